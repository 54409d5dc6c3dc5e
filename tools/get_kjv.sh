#!/usr/bin/env bash
# Writes build/data/kjv.txt, the text of the King James Bible (4,137,850 bytes, a verse a line, public domain), from
# Debian's package bible-kjv. Does nothing when the file is there.
#
# usage: tools/get_kjv.sh [FILE] [--help]
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

bytes=4137850
case ${1:-} in
--help | -h) print_help "$0" && exit ;;
-*) die "get_kjv.sh: unknown argument $1 (see --help)" ;;
esac
file=${1:-$root/build/data/kjv.txt}

size_of() { wc -c <"$1" | tr -d ' '; }
if [[ -f $file && $(size_of "$file") -eq $bytes ]]; then
    exit 0
fi
bible=$(PATH=$PATH:/usr/bin:/usr/games command -v bible) ||
    die "the program \`bible\` is missing: install the package bible-kjv (tools/setup.sh does)"

mkdir -p "$(dirname "$file")"
unfinished=$(mktemp "$file.XXXXXX")
trap 'rm -f "$unfinished"' EXIT
# Each line is a reference such as Gen1:1 and the verse; only the verse is kept.
"$bible" -f 'gen1:1-rev22:21' </dev/null | sed -E 's/^[A-Za-z0-9]+:[0-9]+ //' >"$unfinished"
[[ $(size_of "$unfinished") -eq $bytes ]] ||
    die "$bible printed $(size_of "$unfinished") bytes of text, expected $bytes: another edition of bible-kjv?"
chmod 644 "$unfinished"
mv "$unfinished" "$file"
echo "wrote $file ($bytes bytes)"
