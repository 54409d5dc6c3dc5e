#!/usr/bin/env bash
# Trains the King James Bible's bytes for an hour, with an evaluation, a checkpoint and a sample every few seconds, and
# looks whether memory or the time of a step grows: results in build/soak (soak.txt, soak.svg). Exit code 1 when
# resident memory grew by more than RSS_KIB after the first tenth, or steps of the last quarter took DRIFT percent
# longer than those of the first (medians). Nothing else should run meanwhile.
#
# usage: [RSS_KIB=4096] [DRIFT=10] tools/soak.sh [--help] [SECONDS] [OPTION...]
#   SECONDS  3600 when not given
#   OPTION   of causeway train, --set runtime.threads=1 for instance
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case ${1:-} in
--help | -h) print_help "$0" && exit ;;
esac
seconds=${1:-3600}
[[ $seconds =~ ^[0-9]+$ && $seconds -ge 20 ]] || die "soak.sh: found $seconds, expected at least 20 seconds (see --help)"
shift || true
cd "$root"
causeway=${CAUSEWAY:-build/release/bin/causeway}
[[ -x $causeway ]] || die "$causeway does not exist: build the preset release first"
[[ -f build/data/kjv.txt ]] || tools/get_kjv.sh
out=build/soak
rm -rf "$out"
mkdir -p "$out"

"$causeway" train configs/kjv_bytes.json --out "$out/run" --set train.max_steps=100000000 \
    --set train.lr_schedule=constant --set train.eval_every=200 --set train.checkpoint_every=100 \
    --set train.sample_every=200 --set train.log_every=1000 "$@" >"$out/train.log" 2>&1 &
process=$!
trap 'kill -TERM "$process" 2>/dev/null || true' EXIT

say "training for $seconds s, process $process, log in $out/train.log"
# Seconds, KiB: what /proc says once a second.
end=$((SECONDS + seconds))
started=$SECONDS
while [[ $SECONDS -lt $end ]] && kill -0 "$process" 2>/dev/null; do
    rss=$(awk '/^VmRSS:/ { print $2 }' "/proc/$process/status" 2>/dev/null || true)
    [[ -z $rss ]] || echo "$((SECONDS - started)) $rss" >>"$out/rss.txt"
    sleep 1
done
kill -INT "$process" 2>/dev/null || true
code=0
wait "$process" || code=$?
trap - EXIT
[[ $code -eq 130 ]] || { tail -n 3 "$out/train.log" && die "training ended with exit code $code, expected 130"; }

tools/soak_report.py --rss-kib "${RSS_KIB:-4096}" --drift "${DRIFT:-10}" "$out"
