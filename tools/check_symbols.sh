#!/usr/bin/env bash
# Looks into the objects of a Release build for what the library promises not to contain:
#   1. code that one instruction set's object would lend to another's: a weak (inline) symbol without the tag of its
#      own instruction set may be the copy that the linker keeps, and then an older CPU meets instructions it lacks;
#   2. calls that print, end the process or read the environment (CAUSEWAY_ISA, read in isa.cpp, aside).
#
# usage: tools/check_symbols.sh [BUILD_DIR] [--help]      BUILD_DIR: build/release
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case ${1:-} in
--help | -h) print_help "$0" && exit ;;
esac
build_dir=${1:-$root/build/release}
archive=$build_dir/lib/libcauseway.a
[[ -f $archive ]] || die "$archive does not exist: build the preset release first"

failures=0
fail() {
    printf '%s\n' "$1"
    failures=$((failures + 1))
}

# 1. An object file lies in causeway_kernels_<isa>.dir. DW.ref.__gxx_personality_v0 is data, the same in every object.
objects=0
for isa in sse2 avx2 avx512 neon; do
    while IFS= read -r object; do
        objects=$((objects + 1))
        leaks=$(nm "$object" | awk '$(NF-1) ~ /^[WVu]$/ { print $NF }' | grep -v -e "$isa" -e '^DW\.ref\.__gxx' || true)
        [[ -z $leaks ]] || fail "$object shares with other instruction sets: $(c++filt <<<"$leaks" | paste -sd' ')"
    done < <(find "$build_dir/lib" -path "*causeway_kernels_$isa.dir*" -name '*.simd.cpp.o')
done
[[ $objects -gt 0 ]] || fail "no object of a *.simd.cpp found under $build_dir/lib"

# 2. Undefined symbols of the archive, "member:symbol" each.
forbidden='(abort|exit|_exit|_Exit|quick_exit|printf|__printf_chk|vprintf|puts|putchar|perror|stdin|stdout|stderr|system)'
forbidden="(${forbidden}|_ZSt[34](cin|cout|cerr|clog)|(secure_)?getenv)"
calls=$(nm -A --undefined-only "$archive" 2>/dev/null | sed -E 's/^[^:]*:([^:]*):.* U ([^@ ]+).*$/\1:\2/' |
    grep -E ":$forbidden\$" | grep -v -x 'isa\.cpp\.o:getenv' || true)
for call in $calls; do
    fail "${call%%:*} uses ${call#*:}: a library does not print, exit or read the environment"
done

echo "symbols: $objects objects of instruction sets and $(ar t "$archive" | wc -l) of the archive, $failures breaches"
[[ $failures -eq 0 ]]
