#!/usr/bin/env bash
# From a fresh clone to a trained model: installs what is missing, builds preset release in build/release, trains
# configs/kjv_bytes.json on the bytes of the King James Bible, prints what the model writes and what one of its heads
# attends to. The run is kept in build/runs/kjv_bytes; a second call trains anew.
#
# usage: tools/quickstart.sh [--help] [TRAIN ARGUMENT...]
#   arguments go to `causeway train`: `tools/quickstart.sh --set train.max_steps=200` makes a shorter run
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

case ${1:-} in
--help | -h) print_help "$0" && exit ;;
esac
causeway=$root/build/release/bin/causeway
run=$root/build/runs/kjv_bytes

"$root/tools/setup.sh"
say "Building preset release in build/release (some minutes the first time)"
build release causeway_products
"$root/tools/get_kjv.sh"

cd "$root" # the config names its text relative to the tree
say "Training configs/kjv_bytes.json"
"$causeway" train configs/kjv_bytes.json --out "$run" --overwrite "$@"
for prompt in "In the beginning" "And the LORD said unto Moses"; do
    say "What it writes after \"$prompt\""
    "$causeway" generate "$run" --prompt "$prompt" --max-new-tokens 200
done
say "What head 0 of layer 1 attends to (rows: positions, columns: what they look at)"
"$causeway" inspect "$run" --text "And God said, Let there be light" --layer 1 --head 0

cat <<END

The run is in build/runs/kjv_bytes: metrics.jsonl, config.json, model.safetensors.
Next:
  build/release/bin/causeway --help
  build/release/bin/causeway train configs/repeat_h4.json --out build/runs/repeat_h4
  tools/test.sh
END
