#!/usr/bin/env bash
# Counts the instructions that three kernels and one small training step execute, with callgrind, and compares them with
# tools/instruction_counts.txt: a guard against slower code where time is too noisy to tell. Builds what it counts, on
# the instruction set AVX2 (valgrind knows no AVX-512) and one thread. Exits 1 when a count has left the tolerance.
#
# usage: tools/count_instructions.sh [--update] [--tolerance PERCENT] [--no-build] [--help] [CASE...]
#   --update             write the counts found to the file instead of comparing
#   --tolerance PERCENT  how far a count may be from the file's (default: 2, and 20 when the compiler is another one)
#   --no-build           take build/release as it is
#   CASE                 only these cases of causeway_bench (default: all in the file)
#
# examples:
#   tools/count_instructions.sh
#   tools/count_instructions.sh --no-build softmax/f32/128x512
#   tools/count_instructions.sh --update       # after a change that is meant to change them; commit the file with it
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

cases=(gemm_nt/f32/64x512x64 attention_fwd/f32/B4H12T64D64 attention_bwd/f32/B4H12T64D64 softmax/f32/128x512
    train/f32/tiny-32x2-B8T12)
counts=$root/tools/instruction_counts.txt
bench=$root/build/release/bin/causeway_bench
isa=avx2
update=false
compile=true
tolerance=
chosen=()
while [[ $# -gt 0 ]]; do
    case $1 in
    --update) update=true ;;
    --tolerance)
        [[ ${2:-} =~ ^[0-9]+(\.[0-9]+)?$ ]] || die "count_instructions.sh: --tolerance needs a number of percent, found '${2:-}'"
        tolerance=$2
        shift
        ;;
    --no-build) compile=false ;;
    --help | -h) print_help "$0" && exit ;;
    -*) die "count_instructions.sh: unknown option $1 (see --help)" ;;
    *) chosen+=("$1") ;;
    esac
    shift
done
[[ ${#chosen[@]} -eq 0 ]] || cases=("${chosen[@]}")
$update && [[ ${#chosen[@]} -gt 0 ]] && die "count_instructions.sh: --update writes all cases, name none"
command -v valgrind >/dev/null || die "valgrind is not installed (Debian package valgrind)"
if $compile; then
    build release causeway_bench
fi
[[ -x $bench ]] || die "$bench does not exist: run without --no-build"

# count CASE: instructions of one run, the compiler in the next line.
count() {
    local output
    output=$(CAUSEWAY_ISA=$isa valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        --toggle-collect=causeway_bench_region "$bench" --once "$1" 2>&1) || die "$(grep -v '^==' <<<"$output")"
    sed -n -e 's/^==[0-9]*== Collected : \([0-9]*\).*/\1/p' -e 's/^.* run once, [^,]*, //p' <<<"$output" | sort -n -r
}
recorded() { awk -v name="$1" '$1 == name { print $2 }' "$counts" 2>/dev/null || true; }

recorded_compiler=$(sed -n 's/^# compiler: //p' "$counts" 2>/dev/null || true)
compiler=
lines=()
outside=0
printf '%-34s %14s %14s %9s\n' "case ($isa)" recorded counted change
for case in "${cases[@]}"; do
    found=$(count "$case")
    number=$(head -n 1 <<<"$found")
    compiler=$(tail -n 1 <<<"$found")
    lines+=("$case $number")
    limit=${tolerance:-$([[ $compiler == "$recorded_compiler" ]] && echo 2 || echo 20)}
    before=$(recorded "$case")
    if [[ -z $before ]]; then
        printf '%-34s %14s %14s\n' "$case" - "$number"
        continue
    fi
    verdict=$(awk -v a="$before" -v b="$number" -v limit="$limit" 'BEGIN {
        change = 100 * (b - a) / a
        printf "%+8.2f%%%s", change, (change > limit || change < -limit) ? "  outside " limit "%" : "" }')
    printf '%-34s %14s %14s %s\n' "$case" "$before" "$number" "$verdict"
    if [[ $verdict == *outside* ]]; then
        outside=$((outside + 1))
    fi
done

if $update; then
    {
        echo "# Instructions of one warm run of each case, one thread, $isa; written by tools/count_instructions.sh --update"
        echo "# compiler: $compiler"
        printf '%s\n' "${lines[@]}"
    } >"$counts"
    echo "written to ${counts#"$root"/}"
    exit
fi
if [[ $compiler != "$recorded_compiler" ]]; then
    echo "The counts were recorded with ${recorded_compiler:-no compiler}, this build is of $compiler: expect differences."
fi
if [[ $outside -gt 0 ]]; then
    echo "$outside of ${#cases[@]} counts are outside the tolerance. If that is meant: tools/count_instructions.sh --update"
    exit 1
fi
