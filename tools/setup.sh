#!/usr/bin/env bash
# Installs the distribution packages that Causeway is built from, as far as they are missing: one apt-get call,
# with sudo only when not root. Asks nothing, and asks the network for nothing when everything is there.
# Made for Debian 12, Debian 13 and Ubuntu 24.04.
#
# usage: tools/setup.sh [--all] [--ci] [--help]
#   --all   also what the long tests need (qemu-user)
#   --ci    also what .ci/run needs (clang-format, clang for fuzzing, python3)
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Names separated by | are the same thing under the names of different releases; the first that exists is taken.
packages=(g++ cmake ninja-build libxsimd-dev libtbb-dev nlohmann-json3-dev libfmt-dev libxxhash-dev libcli11-dev libpcre2-dev libutf8proc-dev
    'libcatch2-dev|catch2' libbenchmark-dev bible-kjv 'pkgconf|pkg-config')
# Installed where the distribution has them.
optional=()
for argument in "$@"; do
    case $argument in
    --all) packages+=(qemu-user) ;;
    --ci)
        packages+=(python3)
        optional+=(clang-format-14 clang-14 libclang-rt-14-dev)
        ;;
    --help | -h) print_help "$0" && exit ;;
    *) die "setup.sh: unknown argument $argument (see --help)" ;;
    esac
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "This system has no apt-get. docs/dependencies.md lists what has to be installed before the build."
    exit 0
fi

installed() { [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }
available() { [[ $(apt-cache policy "$1" 2>/dev/null) =~ Candidate:\ [^\(] ]]; }

# missing NAME[|NAME]...: those of which no name is installed.
missing() {
    local names name
    for names in "$@"; do
        for name in ${names//|/ }; do
            installed "$name" && continue 2
        done
        echo "$names"
    done
}

as_root() {
    if [[ $(id -u) -eq 0 ]]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    elif command -v sudo >/dev/null; then
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    else
        die "not root, and there is no sudo: as root, run: $*"
    fi
}

mapfile -t wanted < <(missing "${packages[@]}")
[[ ${#wanted[@]} -eq 0 ]] || as_root apt-get -qq update
install=()
for names in "${wanted[@]}"; do
    choice=${names##*|}
    for name in ${names//|/ }; do
        if available "$name"; then
            choice=$name
            break
        fi
    done
    install+=("$choice")
done
for name in $(missing "${optional[@]}"); do
    if available "$name"; then
        install+=("$name")
    else
        echo "(no package $name here: going on without it)"
    fi
done
if [[ ${#install[@]} -gt 0 ]]; then
    say "Installing what is missing: ${install[*]}"
    as_root apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install "${install[@]}"
fi
