# Sourced by the scripts of this folder: where things are, which cmake to use, how many jobs fit.
# shellcheck shell=bash

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '\n==> %s\n' "$*"; }
die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# The text between the first line and the first line that is no comment is a script's own help.
print_help() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$1"; }

# The cmake that is first in PATH when it runs and is new enough, otherwise the distribution's.
# A version manager may put a wrapper in PATH that runs nothing.
find_cmake() {
    local candidate version
    for candidate in "$(command -v cmake || true)" /usr/bin/cmake; do
        [[ -x $candidate ]] || continue
        version=$("$candidate" --version 2>/dev/null | awk 'NR == 1 { print $3 }') || continue
        if [[ -n $version && $(printf '3.25\n%s\n' "$version" | sort -V | head -n 1) == 3.25 ]]; then
            echo "$candidate"
            return
        fi
    done
    die "no cmake of version 3.25 or newer found; tools/setup.sh installs it"
}

# A compiler takes up to 1.2 GB on the kernel files: as many jobs as there are cores, and as memory allows.
MEMORY_PER_JOB_MB=1200
jobs_that_fit() {
    local cores memory jobs
    cores=$(nproc)
    memory=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null || true)
    memory=${memory:-4096}
    local limit
    for limit in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
        if [[ -r $limit && $(cat "$limit") =~ ^[0-9]{1,15}$ ]]; then
            limit=$(($(cat "$limit") / 1048576))
            memory=$((limit < memory ? limit : memory))
        fi
    done
    jobs=$((memory / MEMORY_PER_JOB_MB))
    jobs=$((jobs < cores ? jobs : cores))
    echo $((jobs > 0 ? jobs : 1))
}

# Where ccache is used, two checkouts share what it keeps.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

# build PRESET TARGET...: configures the preset and builds the targets (all of them when none is named).
build() {
    local preset=$1 cmake targets=()
    shift
    [[ $# -eq 0 ]] || targets=(--target "$@")
    cmake=$(find_cmake)
    (
        cd "$root"
        "$cmake" --preset "$preset"
        "$cmake" --build --preset "$preset" --parallel "$(jobs_that_fit)" "${targets[@]}"
    )
}

# run_tests PRESET [CTEST ARGUMENT...]
run_tests() {
    local preset=$1 cmake
    shift
    cmake=$(find_cmake)
    [[ $preset == tsan ]] && export TSAN_OPTIONS="suppressions=$root/tests/tsan.supp ${TSAN_OPTIONS:-}"
    "$(dirname "$cmake")/ctest" --test-dir "$root/build/$preset" --output-on-failure --parallel "$(nproc)" "$@"
}
