#!/usr/bin/env python3
"""Models there and back: transformers makes one, Causeway imports, trains and exports it, transformers loads the result.

    tools/check_transformers.py                                   # every family that Causeway can build
    tools/check_transformers.py --causeway build/dev/bin/causeway gpt2

Checks, for each family: no missing or unexpected names; the logits that transformers computes of the exported folder are
those that `causeway eval` gives of the trained run; exporting without training gives back the same weights. Exit code 77
when this Python has no torch or transformers.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")
ROOT = pathlib.Path(__file__).resolve().parent.parent
try:
    import numpy as np
    import torch
    import transformers
    from safetensors.torch import load_file
except ImportError as error:
    print(f"SKIPPED: {error}; nothing was compared with transformers")
    sys.exit(77)

TASK = {"data": {"source": "repeat"}, "train": {"batch_size": 4, "sequence_length": 16, "max_steps": 20}}


class NotBuilt(Exception):
    """The model needs what Causeway does not have yet."""


def causeway(options, *arguments):
    done = subprocess.run([options.causeway, *map(str, arguments)], capture_output=True, text=True)
    if "not supported" in done.stderr:
        raise NotBuilt(done.stderr.strip())
    assert done.returncode == 0, f"causeway {arguments[0]}: {done.stderr}"
    return done.stdout


def load_strictly(folder):
    model, report = transformers.AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True,
                                                                      dtype=torch.float32)
    for what in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        assert not report.get(what), f"{folder}: {what}: {report[what]}"
    return model.eval()


def check_logits(options, run, exported, folder):
    """Largest difference of logits between the run and what transformers makes of its export."""
    model = load_strictly(exported)
    ids = np.random.default_rng(0).integers(0, model.config.vocab_size, (2, 21))
    np.save(folder / "ids.npy", ids)
    causeway(options, "eval", run, "--ids", folder / "ids.npy", "--logits", folder / "logits.npy")
    with torch.no_grad():
        theirs = model(input_ids=torch.from_numpy(ids)).logits.numpy()
    return float(np.abs(theirs - np.load(folder / "logits.npy")).max())


def check(options, source, folder):
    causeway(options, "import", source, "--out", folder / "run")
    causeway(options, "export", folder / "run", "--out", folder / "same")
    before, same = load_file(source / "model.safetensors"), load_file(folder / "same" / "model.safetensors")
    assert before.keys() == same.keys(), "other names than in the source"
    assert all(torch.equal(before[name], same[name]) for name in before), "other weights than in the source"
    untrained = check_logits(options, folder / "run", folder / "same", folder)

    (folder / "task.json").write_text(json.dumps(TASK))
    causeway(options, "train", folder / "task.json", "--init-from", folder / "run", "--out", folder / "tuned", "--quiet")
    causeway(options, "export", folder / "tuned", "--out", folder / "exported")
    trained = check_logits(options, folder / "tuned", folder / "exported", folder)
    assert max(untrained, trained) <= 2e-5, f"logits differ by {untrained:.1e} before and {trained:.1e} after training"
    return f"logits differ by at most {untrained:.1e}, after 20 steps of training by {trained:.1e}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--causeway", default=ROOT / "build" / "release" / "bin" / "causeway", type=pathlib.Path)
    options.add_argument("families", nargs="*", metavar="FAMILY", help="folders tests/golden/hf_FAMILY; default: all")
    options = options.parse_args()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    golden = ROOT / "tests" / "golden"
    chosen = options.families or sorted(f.name.removeprefix("hf_") for f in golden.glob("hf_*"))
    for family in chosen:
        with tempfile.TemporaryDirectory() as folder:
            try:
                print(f"{family}: {check(options, golden / f'hf_{family}', pathlib.Path(folder))}", flush=True)
            except NotBuilt as reason:
                print(f"{family}: SKIPPED: {reason}", flush=True)


if __name__ == "__main__":
    main()
