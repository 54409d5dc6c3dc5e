#!/usr/bin/env bash
# Builds causeway_bench, measures, and writes results, tables and plots: the figures of docs/performance.md.
# OUT gets one JSON file a family, results.md with all tables, and three plots (these need matplotlib, see
# docs/dependencies.md). Kernels run on one thread, training steps and generation on all threads. Rounds of the
# cases of a family take turns, so that what else the machine does meets all of them; the best round of each counts.
#
# usage: tools/bench.sh [--quick] [--threads N] [--out DIR] [--docs] [--no-build] [--help] [FAMILY...]
#   --quick      few short rounds, and no sizes that take seconds
#   --threads N  everything on N threads
#   --out DIR    where to (default: build/bench)
#   --docs       also put the tables into docs/performance.md and the plots into docs/images
#   --no-build   take build/release as it is
#   FAMILY       softmax gemm gemm_odd attention head layers optimizer stream tokenize train decode attention_growth train_growth
#                (default: all, about 10 minutes on two quiet cores)
#
# examples:
#   tools/bench.sh softmax gemm             # the micro-benchmarks most people come for
#   tools/bench.sh --quick                  # a look at everything
#   tools/bench.sh --threads 2 attention
#   tools/bench.sh --docs                   # the figures of docs/performance.md anew
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

families=(softmax gemm gemm_odd attention head layers optimizer stream tokenize train decode attention_growth train_growth)
declare -A filter=(
    [softmax]='^softmax'
    [tokenize]='^tokenize'
    [gemm]='^gemm_(nt|nn|tn)'
    [gemm_odd]='^gemm_odd'
    [attention]='^attention_.*(H12T|D128|D8)'
    [head]='^lm_head'
    [layers]='-^(softmax|gemm_|attention_|lm_head|adamw|square_sum|stream_|tokenize|train|decode|prefill)'
    [optimizer]='^(adamw|square_sum)'
    [stream]='^stream_'
    [train]='^train/'
    [decode]='^(decode|prefill)/'
    [attention_growth]='^attention_.*H4T.*D64'
    [train_growth]='^train_growth/'
)
# Rounds, and seconds each of them takes at least. Many short ones rather than a few long: a round counts when nothing
# else ran meanwhile. Where a single call takes long, or setting up does, there are fewer.
declare -A rounds=([train]=5 [decode]=5 [attention_growth]=7 [train_growth]=7 [head]=9 [gemm]=20 [gemm_odd]=10 [attention]=20 [optimizer]=15)
declare -A seconds=([train]=0.2 [train_growth]=0.05)
quick=false
docs=false
compile=true
threads=
out=$root/build/bench
chosen=()
while [[ $# -gt 0 ]]; do
    case $1 in
    --quick) quick=true ;;
    --docs) docs=true ;;
    --no-build) compile=false ;;
    --threads)
        [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "bench.sh: --threads needs a positive number, found '${2:-}'"
        threads=$2
        shift
        ;;
    --out)
        [[ -n ${2:-} ]] || die "bench.sh: --out needs a folder"
        out=$2
        shift
        ;;
    --help | -h) print_help "$0" && exit ;;
    *)
        [[ -n $1 ]] || die "bench.sh: found an empty argument, expected an option or a family: ${families[*]}"
        [[ -n ${filter[$1]:-} ]] || die "bench.sh: $1 is neither an option nor a family; there are: ${families[*]}"
        chosen+=("$1")
        ;;
    esac
    shift
done
[[ ${#chosen[@]} -gt 0 ]] || chosen=("${families[@]}")
$quick && $docs && die "bench.sh: --docs takes full rounds, not --quick"
if $quick; then
    filter[train]='^train/.*(char-0.8M|tiny)'
    filter[decode]='^decode/.*minimind.*B1'
    filter[attention_growth]='^attention_.*H4T[0-9]{2,3}D64'
    filter[train_growth]='^train_growth/.*T[0-9]{2,3}D[0-9]{2,3}L'
    filter[head]='^lm_head_ce'
fi

if $compile; then
    build release causeway_bench
fi
bench=$root/build/release/bin/causeway_bench
[[ -x $bench ]] || die "$bench does not exist: run without --no-build"
mkdir -p "$out"
out=$(cd "$out" && pwd)

# measure FAMILY: writes OUT/FAMILY.json.
measure() {
    local family=$1 count=${rounds[$1]:-30} length=${seconds[$1]:-0.005} workers=${threads:-1}
    if [[ $family =~ ^(train|decode) && -z $threads ]]; then
        workers=$(nproc)
    fi
    if $quick; then
        count=3
        length=0.002
    fi
    say "Measuring $family on $workers threads, $count rounds"
    "$bench" --threads "$workers" --benchmark_filter="${filter[$family]}" --benchmark_repetitions="$count" \
        --benchmark_min_time="$length" --benchmark_enable_random_interleaving=true \
        --benchmark_out="$out/$family.json.part" --benchmark_out_format=json >"$out/$family.log" 2>&1 ||
        die "causeway_bench failed: $(tail -n 3 "$out/$family.log")"
    mv "$out/$family.json.part" "$out/$family.json"
    rm "$out/$family.log"
}
for family in "${chosen[@]}"; do
    measure "$family"
done

python=$(command -v python3) || die "the results are in $out; python3, which writes the tables, is not installed"
# The distribution's matplotlib belongs to the distribution's python, which need not be the first in PATH.
for candidate in "$python" /usr/bin/python3; do
    if "$candidate" -c 'import matplotlib' 2>/dev/null; then
        python=$candidate
        break
    fi
done
export PYTHONDONTWRITEBYTECODE=1
"$python" "$root/tools/bench_results.py" "$out" | tee "$out/results.md"
say "Plots"
"$python" "$root/tools/plot_bench.py" "$out" "$out" || [[ $? -eq 3 ]]
if $docs; then
    "$python" "$root/tools/bench_results.py" "$out" --into "$root/docs/performance.md"
    "$python" "$root/tools/plot_bench.py" "$out" "$root/docs/images" || [[ $? -eq 3 ]]
    say "docs/performance.md and docs/images have the new figures"
fi
say "Results: $out (JSON, results.md, SVG)"
