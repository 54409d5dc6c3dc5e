#!/usr/bin/env python3
"""Makes tests/golden/gradient_norms.json: norms of the gradient by layer, of pre- and post-norm models as Causeway
initialises them, computed by PyTorch in float64.

    tools/golden_gradient_norms.py            # write the file
    tools/golden_gradient_norms.py --check    # recompute and compare

Needs torch, numpy, safetensors. The weights are Causeway's: stream i of train.seed is parameter i in the order of the
graph, drawn with Philox4x32-10 (lib/base/philox.hpp), written again here.
"""
import json
import pathlib
import sys

import numpy as np
import torch

from make_goldens import DEFAULTS, GOLDEN, IGNORE, forward, loss_sum, parameter_shapes

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONFIGS = ("repeat_pre_ln", "repeat_post_ln")
INITIALISATION, CHECK_TOKENS, CHECK_TARGETS = 0, 7, 8  # RandomDomain


def words(seed, domain, index, blocks):
    """(blocks, 4) words of a stream as RandomStream numbers them."""
    mask = np.uint64(0xFFFFFFFF)
    stream = domain << 56 | index
    c = [np.arange(blocks, dtype=np.uint64) & mask, np.arange(blocks, dtype=np.uint64) >> np.uint64(32),
         np.full(blocks, stream & 0xFFFFFFFF, np.uint64), np.full(blocks, stream >> 32, np.uint64)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(key[0]), p1 & mask,
             (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(key[1]), p0 & mask]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(c, axis=1)


def pairs(seed, domain, index, count):
    """`count` words of 64 bits."""
    w = words(seed, domain, index, (count + 1) // 2).reshape(-1, 2)
    return (w[:, 0] | w[:, 1] << np.uint64(32))[:count]


def normals(seed, index, count):
    u = (pairs(seed, INITIALISATION, index, 2 * count) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.sqrt(-2.0 * np.log(1.0 - u[0::2])) * np.cos(2.0 * np.pi * u[1::2])


def token_ids(seed, domain, vocab, count):
    assert vocab & (vocab - 1) == 0, "a power of two needs no rejection"
    return (pairs(seed, domain, 0, count) >> np.uint64(64 - vocab.bit_length() + 1)).astype(np.int64)


def graph_order(m):
    """Names in the order in which the graph makes them: a post-norm comes after its sub-block."""
    names = list(parameter_shapes(m))
    if m["norm_placement"] == "pre":
        return names
    key = {name: (i, 0) for i, name in enumerate(names)}
    for name in names:
        if ".ln_" in name:
            block = name.split(".ln_")[0] + (".attn." if ".ln_1" in name else ".mlp.")
            key[name] = (max(i for i, other in enumerate(names) if other.startswith(block)), 1 + key[name][0])
    return sorted(names, key=key.get)


def weights(m, seed):
    shapes, values = parameter_shapes(m), {}
    for index, name in enumerate(graph_order(m)):
        shape = shapes[name]
        if len(shape) == 1:
            values[name] = np.full(shape, 1.0 if ".ln_" in name and name.endswith("weight") or
                                   name == "ln_f.weight" else 0.0)
            continue
        deviation = m["initializer_range"]
        if name.endswith("proj.weight"):
            deviation /= np.sqrt(2 * m["num_hidden_layers"])
        values[name] = (deviation * normals(seed, index, shape[0] * shape[1])).astype(np.float32).reshape(shape)
    return {name: torch.tensor(value, dtype=torch.float64, requires_grad=True) for name, value in values.items()}


def part_of(name):
    if name.startswith("h."):
        return "layer " + name.split(".")[1]
    return "embedding" if name.startswith(("wte.", "wpe.")) else "head"


def norms_of(path):
    given = json.loads(path.read_text())
    m = {**DEFAULTS["model"], **given["model"]}
    m["mlp"] = "gelu"  # make_goldens' name of the plain MLP
    m["intermediate_size"] = m["intermediate_size"] or 4 * m["hidden_size"]
    train = {**DEFAULTS["train"], **given["train"]}
    assert m["init"] == "gpt2" and m["tie_word_embeddings"] and not m["lm_head_bias"]
    B, T = min(train["batch_size"], 4), min(train["sequence_length"], 64)
    p = weights(m, train["seed"])
    ids = torch.from_numpy(token_ids(train["seed"], CHECK_TOKENS, m["vocab_size"], B * T).reshape(B, T))
    targets = torch.from_numpy(token_ids(train["seed"], CHECK_TARGETS, m["vocab_size"], B * T))
    targets[6::7] = IGNORE
    loss = loss_sum(forward(m, p, ids), targets.reshape(B, T)) / (targets != IGNORE).sum()
    loss.backward()
    squares = {}
    for name, value in p.items():
        squares[part_of(name)] = squares.get(part_of(name), 0.0) + float((value.grad**2).sum())
    return {"loss": loss.item(), "norms": {part: square**0.5 for part, square in squares.items()}}


def main():
    path = GOLDEN / "gradient_norms.json"
    found = {name: norms_of(ROOT / "configs" / f"{name}.json") for name in CONFIGS}
    if "--check" not in sys.argv:
        path.write_text(json.dumps(found, indent=1) + "\n")
        return
    stored = json.loads(path.read_text())
    for name, case in found.items():
        np.testing.assert_allclose(stored[name]["loss"], case["loss"], rtol=1e-12)
        for part, norm in case["norms"].items():
            np.testing.assert_allclose(stored[name]["norms"][part], norm, rtol=1e-10, err_msg=f"{name}: {part}")


if __name__ == "__main__":
    main()
