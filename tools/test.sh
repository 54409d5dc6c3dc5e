#!/usr/bin/env bash
# Installs what is missing, builds a preset and runs its tests through ctest. Exits non-zero when one fails.
#
# usage: tools/test.sh [--all] [--preset NAME] [--help] [CTEST ARGUMENT...]
#   --all           also the tests labelled `long`: sweeps, soaks, kill tests, emulated older CPUs
#   --preset NAME   release (the default), dev, asan or tsan
#   anything else goes to ctest: `tools/test.sh -R config` runs the tests whose names match
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset=release
setup=()
selection=(--label-exclude '^long$')
arguments=()
while [[ $# -gt 0 ]]; do
    case $1 in
    --all)
        setup+=(--all)
        selection=()
        ;;
    --preset)
        [[ $# -gt 1 ]] || die "test.sh: --preset needs a name"
        preset=$2
        shift
        ;;
    --help | -h) print_help "$0" && exit ;;
    *) arguments+=("$1") ;;
    esac
    shift
done

"$root/tools/setup.sh" "${setup[@]}"
"$root/tools/get_kjv.sh"
say "Building preset $preset in build/$preset"
build "$preset"
say "Testing"
run_tests "$preset" "${selection[@]}" "${arguments[@]}"
