#!/usr/bin/env bash
# Tries the scripts where nothing is installed yet: makes an empty root of each release with debootstrap, clones the
# committed tree into it, and runs tools/quickstart.sh and tools/test.sh there; then tools/test.sh once more with the
# network taken away. Needs root, debootstrap and git.
#
# usage: [MIRROR=URL] [ROOTS=DIR] tools/debootstrap_check.sh [--help] SUITE...
#   SUITE   bookworm, trixie or another that debootstrap knows
#   MIRROR  the package archive to use; debootstrap's own default when not set
#   ROOTS   where the roots are kept, the empty ones for the next time; build/roots when not set
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case ${1:---help} in
--help | -h) print_help "$0" && exit ;;
esac
[[ $(id -u) -eq 0 ]] || die "debootstrap_check.sh has to run as root"
command -v debootstrap >/dev/null || die "install the package debootstrap first"
roots=${ROOTS:-$root/build/roots}
mkdir -p "$roots"

# inside SUITE COMMAND...: in the root, with /proc and terminals, on mounts that vanish with the command.
inside() {
    local suite=$1
    shift
    # shellcheck disable=SC2016
    unshare --mount --propagation private bash -c \
        'mount -t proc proc "$1/proc" && mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts" &&
         exec chroot "$@"' inside "$roots/$suite" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM:-dumb}" "$@" </dev/null
}

check() {
    local suite=$1
    if [[ ! -d $roots/$suite-empty ]]; then
        say "$suite: making an empty root"
        rm -rf "$roots/$suite-unfinished"
        debootstrap --variant=minbase "$suite" "$roots/$suite-unfinished" ${MIRROR:+"$MIRROR"}
        mv "$roots/$suite-unfinished" "$roots/$suite-empty"
    fi
    rm -rf "${roots:?}/$suite"
    cp -a "$roots/$suite-empty" "$roots/$suite"
    cp /etc/resolv.conf "$roots/$suite/etc/resolv.conf"
    git clone -q --no-local "$root" "$roots/$suite/causeway"

    say "$suite: tools/quickstart.sh"
    inside "$suite" /causeway/tools/quickstart.sh
    say "$suite: tools/test.sh"
    inside "$suite" /causeway/tools/test.sh
    say "$suite: tools/test.sh without a network"
    unshare --net bash -c "$(declare -f inside); roots='$roots' inside $suite /causeway/tools/test.sh"
}

for suite in "$@"; do
    started=$SECONDS
    check "$suite"
    say "$suite: passed in $((SECONDS - started)) s"
done
