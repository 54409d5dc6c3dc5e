#!/usr/bin/env python3
"""Trains a recipe of configs/recipes here and in PyTorch, on the same text, and compares the final validation losses.

usage: tools/compare_recipe.py [--causeway BIN] [--seeds 1 2 3] [--only causeway|torch] [--threads N] [RECIPE] [TEXT]

RECIPE is a config of a GPT-2 on the bytes of a text (configs/recipes/shakespeare_char_cpu.json), TEXT replaces its
data.path. PyTorch's side is written here from the config's fields: pre-LayerNorm blocks, tied head, N(0, 0.02) with
residual projections N(0, 0.02 / sqrt(2 layers)), AdamW with decay on matrices and embeddings, warm-up (i + 1)/(W + 1)
and cosine, windows drawn with replacement, validation on the windows that start at every validation_stride-th byte.
Prints one JSON object a run, then means, standard deviations, and the verdict: the means differ by less than two
standard errors of their difference. Exits 1 when they do not. Needs torch and numpy; about a minute a seed and side.

example: tools/compare_recipe.py --seeds 1 2 3
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUPPORTED = {  # the fields that must have these values for the model below to be the recipe's
    "model": {"position_embedding": "learned", "norm": "layernorm", "norm_placement": "pre", "mlp": "plain",
              "hidden_act": "gelu", "attention_bias": False, "mlp_bias": False, "tie_word_embeddings": True,
              "init": "gpt2"},
    "data": {"source": "text", "sampling": "random", "tokenizer": ""},
    "train": {"optimizer": "adamw", "lr_schedule": "cosine", "gradient_accumulation_steps": 1,
              "weight_decay_scope": "matrices"},
}
DEFAULTS = {  # of docs/config.md, for what a recipe leaves out
    "model": {"position_embedding": "learned", "norm": "layernorm", "norm_placement": "pre", "mlp": "plain",
              "layer_norm_epsilon": 1e-5, "attention_dropout": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0,
              "initializer_range": 0.02},
    "data": {"tokenizer": "", "validation_fraction": 0.1},
    "train": {"gradient_accumulation_steps": 1, "weight_decay_scope": "matrices", "adam_epsilon": 1e-8},
}


def read_recipe(path):
    recipe = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    sections = {name: {**DEFAULTS[name], **recipe[name]} for name in DEFAULTS}
    for name, fields in SUPPORTED.items():
        for field, value in fields.items():
            if sections[name].get(field) != value:
                sys.exit(f"compare_recipe.py: {path}: {name}.{field}: found {sections[name].get(field)!r}, "
                         f"expected {value!r}: the PyTorch side knows no other")
    return sections


def make_model(torch, config):
    nn, functional = torch.nn, torch.nn.functional
    width, heads, context = config["hidden_size"], config["num_attention_heads"], config["max_position_embeddings"]
    layers, epsilon = config["num_hidden_layers"], config["layer_norm_epsilon"]

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(width, epsilon), nn.LayerNorm(width, epsilon)
            self.c_attn = nn.Linear(width, 3 * width, bias=False)
            self.attn_proj = nn.Linear(width, width, bias=False)
            self.c_fc = nn.Linear(width, 4 * width, bias=False)
            self.mlp_proj = nn.Linear(4 * width, width, bias=False)
            self.drop = nn.Dropout(config["resid_pdrop"])

        def forward(self, x):
            rows, length, _ = x.shape
            q, k, v = (part.view(rows, length, heads, width // heads).transpose(1, 2)
                       for part in self.c_attn(self.ln_1(x)).split(width, 2))
            dropout = config["attention_dropout"] if self.training else 0.0
            seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=dropout)
            x = x + self.drop(self.attn_proj(seen.transpose(1, 2).reshape(rows, length, width)))
            return x + self.drop(self.mlp_proj(functional.gelu(self.c_fc(self.ln_2(x)))))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte, self.wpe = nn.Embedding(config["vocab_size"], width), nn.Embedding(context, width)
            self.drop, self.ln_f = nn.Dropout(config["embd_pdrop"]), nn.LayerNorm(width, epsilon)
            self.h = nn.ModuleList(Block() for _ in range(layers))
            scale = config["initializer_range"]
            for name, parameter in self.named_parameters():
                if parameter.dim() == 2:
                    nn.init.normal_(parameter, 0, scale / math.sqrt(2 * layers) if "_proj." in name else scale)

        def forward(self, inputs, targets):
            x = self.drop(self.wte(inputs) + self.wpe.weight[: inputs.shape[1]])
            for block in self.h:
                x = block(x)
            logits = functional.linear(self.ln_f(x), self.wte.weight)
            return functional.cross_entropy(logits.view(-1, logits.shape[-1]), targets.reshape(-1))

    return Gpt()


def learning_rate(train, i):
    high, low, warmup, steps = (train[key] for key in
                                ("learning_rate", "min_learning_rate", "warmup_steps", "max_steps"))
    if i < warmup:
        return high * (i + 1) / (warmup + 1)
    return low + 0.5 * (1 + math.cos(math.pi * (i - warmup) / (steps - warmup))) * (high - low)


def batch(torch, data, starts, length):
    windows = torch.stack([data[start : start + length + 1] for start in starts])
    return windows[:, :-1], windows[:, 1:]


def validate(torch, model, data, length, stride, rows):
    starts = list(range(0, len(data) - length, stride))
    model.eval()
    with torch.no_grad():
        total = sum(model(*batch(torch, data, starts[i : i + rows], length)).item() * len(starts[i : i + rows])
                    for i in range(0, len(starts), rows))
    return total / len(starts)


def train_torch(recipe, text, seed, threads):
    import numpy
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    begin = time.time()
    data = torch.from_numpy(numpy.frombuffer(pathlib.Path(text).read_bytes(), dtype=numpy.uint8).astype(numpy.int64))
    train, length = recipe["train"], recipe["model"]["max_position_embeddings"]
    cut = len(data) - int(recipe["data"]["validation_fraction"] * len(data))
    learned, held_out = data[:cut], data[cut:]
    model = make_model(torch, recipe["model"])
    parameters = list(model.parameters())
    groups = [{"params": [p for p in parameters if p.dim() > 1], "weight_decay": train["weight_decay"]},
              {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=(train["adam_beta1"], train["adam_beta2"]),
                                  eps=train["adam_epsilon"], fused=True)
    for i in range(train["max_steps"]):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(train, i)
        starts = torch.randint(0, len(learned) - length, (train["batch_size"],)).tolist()
        loss = model(*batch(torch, learned, starts, length))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, train["max_grad_norm"])
        optimizer.step()
    stride = recipe["data"].get("validation_stride") or length
    return {"side": "torch", "seed": seed, "parameters": sum(p.numel() for p in parameters),
            "val_loss": validate(torch, model, held_out, length, stride, train["batch_size"]),
            "seconds": round(time.time() - begin, 1)}


def train_causeway(binary, path, text, seed, threads):
    begin = time.time()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([binary, "train", path, "--out", folder, "--overwrite", "--quiet",
                        "--set", f"data.path={text}", "--set", f"train.seed={seed}", "--set", "train.sample_every=0",
                        "--set", f"runtime.threads={threads}"], check=True)
        lines = (pathlib.Path(folder) / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return {"side": "causeway", "seed": seed, "val_loss": json.loads(lines[-1])["val_loss"],
            "seconds": round(time.time() - begin, 1)}


def verdict(losses):
    """Prints each side's mean and spread; True when the means agree."""
    for side, values in losses.items():
        print(f"{side:>9}: mean {statistics.mean(values):.4f}, standard deviation {statistics.stdev(values):.4f} "
              f"over {len(values)} seeds")
    ours, theirs = losses["causeway"], losses["torch"]
    error = math.sqrt(statistics.variance(ours) / len(ours) + statistics.variance(theirs) / len(theirs))
    gap = abs(statistics.mean(ours) - statistics.mean(theirs))
    print(f"the means differ by {gap:.4f}, two standard errors of that are {2 * error:.4f}")
    return gap <= 2 * error


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", nargs="?", default=str(ROOT / "configs/recipes/shakespeare_char_cpu.json"))
    parser.add_argument("text", nargs="?", default=str(ROOT / "build/data/kjv.txt"))
    parser.add_argument("--causeway", default=str(ROOT / "build/release/bin/causeway"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--only", choices=["causeway", "torch"])
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    recipe = read_recipe(options.recipe)
    losses = {}
    for side in [options.only] if options.only else ["causeway", "torch"]:
        for seed in options.seeds:
            run = (train_torch(recipe, options.text, seed, options.threads) if side == "torch" else
                   train_causeway(options.causeway, options.recipe, options.text, seed, options.threads))
            print(json.dumps(run), flush=True)
            losses.setdefault(side, []).append(run["val_loss"])
    if options.only or len(options.seeds) < 2:
        return 0
    return 0 if verdict(losses) else 1


if __name__ == "__main__":
    sys.exit(main())
