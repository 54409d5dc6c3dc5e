#!/usr/bin/env python3
"""Holds Causeway's tokenizers against HuggingFace's `tokenizers`: ids of random strings by the golden tokenizers and
those given, and what `causeway tokenizer train` learns from a text. Prints each difference, exits 1 on any.

usage: tools/check_tokenizers.py [--causeway build/release/bin/causeway] [--seed N] [--text FILE] [TOKENIZER...]

Random strings hold what tokenizers stumble over, and characters of all of Unicode 9: `tokenizers` normalises by tables
of that age, which leave what came later as it is. FILE is learned from: build/data/kjv.txt.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

ROOT = pathlib.Path(__file__).resolve().parent.parent
SPECIAL = "<|endoftext|>"
PIECES = [*" \t\n\r'aestdmlrvEST19.,-<>|_ \n  ", *"the word <|endoftext|> <mask> <|im_start|> don't I'LL 's 're LEFIT ".split(" "),
          *"éñ中文字，。\u0301\u0308\u3000\u00a0\u2028\u180e\u200d😀ſKİßﬁ①½Ⅷ٣"]


def random_text(rng):
    def piece():
        kind = rng.random()
        if kind < 0.6:
            return rng.choice(PIECES)
        if kind < 0.9:
            return chr(rng.randrange(0x20, 0x250))
        return chr(rng.choice([rng.randrange(0x370, 0x600), rng.randrange(0x3041, 0x3097), rng.randrange(0x4E00, 0x9F00), rng.randrange(0x1F300, 0x1F600)]))
    return "".join(piece() for _ in range(rng.randrange(1, 40)))


def causeway(options, *arguments):
    return subprocess.run([options.causeway, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def check_ids(options, path, strings):
    """The ids of all strings, a line of JSON each; a separator would have to be in every vocabulary."""
    tokenizer = Tokenizer.from_file(str(path))
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        lines, out = pathlib.Path(folder, "strings.jsonl"), pathlib.Path(folder, "ids.npy")
        lines.write_text("".join(json.dumps({"text": s}) + "\n" for s in strings), encoding="utf-8")
        causeway(options, "tokenize", lines, "--jsonl", "--tokenizer", path, "--out", out)
        ours = numpy.load(out).tolist()
    at = 0
    for text in strings:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        if ours[at:at + len(ids)] != ids:
            wrong += 1
            print(f"{path}: {text!r}: found {ours[at:at + len(ids)]}, expected {ids}")
            break  # what follows is shifted
        at += len(ids)
    print(f"{path}: {len(strings)} strings, {'ids differ' if wrong or at != len(ours) else 'the same ids'}")
    return not wrong and at == len(ours)


def check_training(options):
    """The same merges in the same order, and the same ids in a file that `tokenizers` loads."""
    text = pathlib.Path(options.text).read_text(encoding="utf-8")
    theirs = Tokenizer(models.BPE())
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = decoders.ByteLevel()
    theirs.train_from_iterator([text], trainers.BpeTrainer(
        vocab_size=4096, min_frequency=2, special_tokens=[SPECIAL], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "tokenizer.json")
        causeway(options, "tokenizer", "train", options.text, "--vocab-size", 4096, "--special-token", SPECIAL, "--out", file)
        ours = Tokenizer.from_file(str(file))
    same = ours.get_vocab() == theirs.get_vocab() and ours.encode(text).ids == theirs.encode(text).ids
    print(f"learned from {options.text}: {'the same tokenizer' if same else 'tokenizers differ'}")
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokenizers", nargs="*")
    parser.add_argument("--causeway", default=str(ROOT / "build/release/bin/causeway"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--text", default=str(ROOT / "build/data/kjv.txt"))
    options = parser.parse_args()
    golden = ROOT / "tests/golden/tokenizers"
    strings = json.loads((golden / "strings.json").read_text())["strings"]
    rng = random.Random(options.seed)
    strings += [random_text(rng) for _ in range(20000)]
    files = [p for p in sorted(golden.glob("*.json")) if p.name != "strings.json"]
    good = [check_ids(options, path, strings) for path in files + [pathlib.Path(p) for p in options.tokenizers]]
    return 0 if all([*good, check_training(options)]) else 1


if __name__ == "__main__":
    sys.exit(main())
