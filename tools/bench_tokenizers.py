#!/usr/bin/env python3
"""Compares the speed of `causeway tokenize` on one thread with HuggingFace's `tokenizers`: both encode the same text by
the same tokenizer.json, in turns, so that a machine that slows down slows both. Checks that the ids are the same.

usage: tools/bench_tokenizers.py [--causeway build/release/bin/causeway] [--rounds 7] TEXT TOKENIZER...

Prints the medians and the median of the rounds' ratios, in CPU time, which other work on the machine touches least.
Causeway's is the whole command's: starting, reading the tokenizer, writing the ids; that of `tokenizers` is the calls of
encode alone, on parts of about 1 MB.
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
from tokenizers import Tokenizer  # noqa: E402  (reads the variable)

PART = 1 << 20


def parts_of(text):
    """Cut before a line end behind a letter, where both packages' words end anyway."""
    start = 0
    while start < len(text):
        end = start + PART
        while end < len(text) and not (text[end] == "\n" and text[end - 1].isalnum()):
            end += 1
        yield text[start:end]
        start = end


def run_causeway(command, path, tokenizer):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "ids.bin")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([command, "tokenize", path, "--tokenizer", tokenizer, "--threads", "1", "--format", "llmc",
                        "--out", out], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return seconds, pathlib.Path(out).read_bytes()[1024:]


def run_package(tokenizer, parts):
    start = time.process_time()
    encodings = [tokenizer.encode(part, add_special_tokens=False) for part in parts]
    seconds = time.process_time() - start
    return seconds, [i for encoding in encodings for i in encoding.ids]


def compare(options, path):
    size = os.path.getsize(options.text)
    parts = list(parts_of(pathlib.Path(options.text).read_bytes().decode("utf-8")))
    ours, theirs = [], []
    for _ in range(options.rounds):
        tokenizer = Tokenizer.from_file(path)  # anew: it remembers words
        seconds, data = run_causeway(options.causeway, options.text, path)
        ours.append(size / seconds / 1e6)
        seconds, ids = run_package(tokenizer, parts)
        theirs.append(size / seconds / 1e6)
    width = 2 if max(ids) < 65536 and tokenizer.get_vocab_size() <= 65536 else 4
    same = b"".join(i.to_bytes(width, "little") for i in ids) == data
    ratio = statistics.median(a / b for a, b in zip(ours, theirs))
    print(f"{path}: causeway {statistics.median(ours):.1f} MB/s, tokenizers {statistics.median(theirs):.1f} MB/s, "
          f"ratio {ratio:.1f}, ids {'the same' if same else 'DIFFER'}")
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("tokenizers", nargs="+")
    parser.add_argument("--causeway", default="build/release/bin/causeway")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    return 0 if all([compare(options, path) for path in options.tokenizers]) else 1


if __name__ == "__main__":
    raise SystemExit(main())
