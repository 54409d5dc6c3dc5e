#!/usr/bin/env python3
"""Makes tests/golden/hf_*: small random models as transformers saves them, and what it computes with them.

    tools/golden_transformers.py                # write the folders of all families
    tools/golden_transformers.py gpt2 llama     # of some

Needs torch, transformers, safetensors. A folder has the config.json and model.safetensors (F32) that save_pretrained
writes and expected.safetensors, computed in float64. tests/golden/README.md says what that holds.
"""
import json
import os
import pathlib
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import torch.nn.functional as F
import transformers
from safetensors.torch import load_file, save_file

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"
VOCAB, HIDDEN, LAYERS, HEADS, KV_HEADS, HEAD_DIM, CONTEXT, BATCH = 97, 40, 2, 4, 2, 16, 40, 2
LENGTHS = (1, 3, 33)
IGNORE = -100
STEPS = dict(count=10, length=9, lr=1e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)

rope_family = dict(vocab_size=VOCAB, hidden_size=HIDDEN, intermediate_size=88, num_hidden_layers=LAYERS,
                   num_attention_heads=HEADS, num_key_value_heads=KV_HEADS, head_dim=HEAD_DIM,
                   max_position_embeddings=CONTEXT)
llama3_rope = dict(rope_type="llama3", rope_theta=10000.0, factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
                   original_max_position_embeddings=16)
plain_rope = dict(rope_type="default", rope_theta=1e6)
experts = dict(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=24, norm_topk_prob=True,
               router_aux_loss_coef=0.0)

# Folder -> config class and its arguments. MiniMind's architecture is Qwen3's; its own config says it in other words.
FAMILIES = {
    "gpt2": ("GPT2Config", dict(vocab_size=VOCAB, n_positions=CONTEXT, n_embd=HIDDEN, n_layer=LAYERS, n_head=HEADS,
                                resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)),
    "llama": ("LlamaConfig", dict(rope_family, rope_parameters=llama3_rope)),
    "llama_biases": ("LlamaConfig", dict(rope_family, attention_bias=True, mlp_bias=True, num_key_value_heads=HEADS,
                                         head_dim=10, tie_word_embeddings=True)),
    "qwen3": ("Qwen3Config", dict(rope_family, rope_parameters=plain_rope)),
    "qwen3_moe": ("Qwen3MoeConfig", dict(rope_family, rope_parameters=plain_rope, **experts)),
    "minimind": ("Qwen3Config", dict(rope_family, rope_parameters=plain_rope, tie_word_embeddings=True)),
    "minimind_moe": ("Qwen3MoeConfig", dict(rope_family, rope_parameters=plain_rope, tie_word_embeddings=True,
                                            **dict(experts, num_experts_per_tok=1))),
}


def make_model(config):
    """Random everywhere: biases and gains too, and larger than a real initialisation, so that a swapped or forgotten one
    shows."""
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="sdpa",
                                                           experts_implementation="eager").eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            is_gain = p.dim() == 1 and "norm" in name + name.replace("ln_", "norm") and name.endswith("weight")
            p.normal_(1.0 if is_gain else 0.0, 0.1)
    return model


def minimind_config(saved):
    """What MiniMind's own class writes for a config that was saved as Qwen3's."""
    moe = saved["model_type"] == "qwen3_moe"
    same = ("hidden_size", "num_hidden_layers", "vocab_size", "num_attention_heads", "num_key_value_heads", "head_dim",
            "hidden_act", "intermediate_size", "max_position_embeddings", "rms_norm_eps", "tie_word_embeddings")
    own = dict(architectures=["MiniMindForCausalLM"], model_type="minimind", use_moe=moe, dropout=0.0, bos_token_id=1,
               eos_token_id=2, flash_attn=True, rope_theta=saved["rope_parameters"]["rope_theta"],
               inference_rope_scaling=False, rope_scaling=None, torch_dtype="float32")
    if moe:
        own["num_experts"] = saved["num_local_experts"]
        same += ("num_experts_per_tok", "moe_intermediate_size", "norm_topk_prob", "router_aux_loss_coef")
    else:
        own.update(num_experts=4, num_experts_per_tok=1, moe_intermediate_size=saved["intermediate_size"],
                   norm_topk_prob=True, router_aux_loss_coef=5e-4)
    return {**own, **{key: saved[key] for key in same}}


def file_names(model, stored):
    """Tensor of the model's file -> function from the gradients of its parameters to that tensor's gradient. Where
    transformers keeps experts in one tensor, the file has one for each."""
    named = dict(model.named_parameters())
    out = {}
    for name in stored:
        if name in named:
            out[name] = lambda name=name: named[name].grad
            continue
        stem, _, rest = name.partition(".experts.")
        expert, which = int(rest.split(".")[0]), rest.split(".")[1]
        if which == "down_proj":
            out[name] = lambda s=stem, e=expert: named[f"{s}.experts.down_proj"].grad[e]
        else:
            half = 0 if which == "gate_proj" else 1
            out[name] = lambda s=stem, e=expert, h=half: named[f"{s}.experts.gate_up_proj"].grad[e].chunk(2)[h]
    return out


def mean_loss(logits, labels):
    """labels[b,t] judges logits[b,t]: no shift."""
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORE)


def some_batch(generator, rows, length):
    ids = torch.randint(0, VOCAB, (rows, length), generator=generator)
    labels = torch.randint(0, VOCAB, (rows, length), generator=generator)
    if length > 1:
        labels[torch.rand(labels.shape, generator=generator) < 0.2] = IGNORE
    return ids, labels


def one_case(model, names, name, ids, labels, mask=None):
    model.zero_grad(set_to_none=True)
    more = {}
    if mask is not None:
        more = dict(attention_mask=mask)
    logits = model(input_ids=ids, use_cache=False, **more).logits
    loss = mean_loss(logits, labels)
    loss.backward()
    out = {f"{name}.ids": ids, f"{name}.labels": labels, f"{name}.logits": logits.detach(),
           f"{name}.loss": loss.detach().reshape(1)}
    if mask is not None:
        out[f"{name}.mask"] = mask
    for tensor, gradient in names.items():
        value = gradient()
        out[f"{name}.gradients.{tensor}"] = value.detach().float().contiguous().clone()
    return out


def padded_batch(generator):
    """One row of 7 tokens, one with 3 pads before it, one with 2 behind it."""
    ids, labels = some_batch(generator, 3, 7)
    mask = torch.ones_like(ids)
    mask[1, :3] = 0
    mask[2, 5:] = 0
    labels[mask == 0] = IGNORE
    return ids, labels, mask


def ten_steps(model, generator):
    """Losses before each AdamW update; matrices and embeddings decay, vectors do not."""
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([dict(params=matrices, weight_decay=STEPS["weight_decay"]),
                                   dict(params=vectors, weight_decay=0.0)],
                                  lr=STEPS["lr"], betas=STEPS["betas"], eps=STEPS["eps"])
    batches = [some_batch(generator, BATCH, STEPS["length"]) for _ in range(STEPS["count"])]
    losses = []
    for ids, labels in batches:
        optimizer.zero_grad()
        loss = mean_loss(model(input_ids=ids, use_cache=False).logits, labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"steps.ids": torch.stack([b[0] for b in batches]), "steps.labels": torch.stack([b[1] for b in batches]),
            "steps.losses": torch.tensor(losses, dtype=torch.float64)}


def make(family):
    class_name, arguments = FAMILIES[family]
    torch.manual_seed(sorted(FAMILIES).index(family))
    generator = torch.Generator().manual_seed(1)
    folder = GOLDEN / f"hf_{family}"
    folder.mkdir(exist_ok=True)
    config = getattr(transformers, class_name)(**arguments)
    model = make_model(config)
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    path = folder / "config.json"
    if family.startswith("minimind"):
        path.write_text(json.dumps(minimind_config(json.loads(path.read_text())), indent=2) + "\n")

    model = model.double()
    names = file_names(model, load_file(folder / "model.safetensors"))
    expected = {}
    for length in LENGTHS:
        expected.update(one_case(model, names, f"t{length}", *some_batch(generator, BATCH, length)))
    expected.update(one_case(model, names, "padded", *padded_batch(generator)))
    expected.update(ten_steps(model, generator))
    made_by = f"tools/golden_transformers.py with transformers {transformers.__version__}, PyTorch {torch.__version__}"
    save_file(expected, folder / "expected.safetensors", {"made_by": made_by})
    print(f"{folder.name}: loss {expected['t33.loss'].item():.6f}, after ten steps "
          f"{expected['steps.losses'][-1].item():.6f}")


if __name__ == "__main__":
    unknown = [f for f in sys.argv[1:] if f not in FAMILIES]
    if unknown:
        sys.exit(f"unknown: {unknown}; there are {list(FAMILIES)}")
    torch.set_num_threads(1)
    for chosen in sys.argv[1:] or FAMILIES:
        make(chosen)
