#!/usr/bin/env python3
"""Makes tests/golden: what PyTorch computes for small models and single ops, for tests that need no Python.

    tools/make_goldens.py                 # write every golden file
    tools/make_goldens.py --check         # recompute and compare with the files, write nothing
    tools/make_goldens.py --only s1_h4    # one case (a folder of tests/golden; "ops" for the single ops)

Needs torch, numpy, safetensors (and transformers for --check). A case is a folder with a config.json in
Causeway's format; everything else in it is made here, in float64, from that file alone. tests/golden/README.md says
what the files hold.
"""
import argparse
import json
import math
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.numpy import load_file, save_file

import golden_ops

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"
IGNORE = -100
ROPE = dict(rope_type="default", rope_theta=10000.0, interleaved=False, factor=1.0,
            original_max_position_embeddings=0, low_freq_factor=1.0, high_freq_factor=4.0, beta_fast=32.0,
            beta_slow=1.0, attention_factor=0.0)
ACTIVATIONS = {"gelu": F.gelu, "gelu_new": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "relu": F.relu}

# The fields this script understands with the defaults of Causeway's config; any other key is an error, so that no
# setting of a case is ignored.
DEFAULTS = {
    "model": dict(model_type="causeway", vocab_size=256, hidden_size=128, num_hidden_layers=4, num_attention_heads=4,
                  num_key_value_heads=0, head_dim=0, intermediate_size=0, max_position_embeddings=64,
                  position_embedding="learned", rope_parameters={}, norm="layernorm", norm_placement="pre",
                  layer_norm_epsilon=1e-5, rms_norm_eps=1e-6, qk_norm=False, residual=True, mlp="plain",
                  hidden_act="gelu_new",
                  attention_bias=True, mlp_bias=True, num_experts=0, num_experts_per_tok=1, moe_intermediate_size=0,
                  norm_topk_prob=True, router_aux_loss_coef=0.0, router_aux_loss_scope="layer",
                  tie_word_embeddings=True, lm_head_bias=False, init="gpt2", initializer_range=0.02),
    "data": dict(source="repeat", lookback=3),
    "train": dict(seed=42, batch_size=12, sequence_length=0, gradient_accumulation_steps=1, max_steps=2000,
                  optimizer="adamw", learning_rate=1e-3, min_learning_rate=0.0, lr_schedule="cosine", warmup_steps=0,
                  adam_beta1=0.9, adam_beta2=0.999, adam_epsilon=1e-8, weight_decay=0.0, max_grad_norm=0.0),
}


def read_config(path):
    """The three sections of a config file as dictionaries with every field set."""
    given = json.loads(path.read_text())
    sections = {name: dict(fields) for name, fields in DEFAULTS.items()}
    for name, fields in given.items():
        unknown = set(fields) - set(sections[name])
        if unknown:
            sys.exit(f"{path}: {name} has fields this script does not know: {sorted(unknown)}")
        sections[name].update(fields)
    model, train = sections["model"], sections["train"]
    schedule = train["lr_schedule"]
    if schedule not in ("constant", "cosine") or (schedule == "constant" and train["warmup_steps"]):
        sys.exit(f"{path}: this script knows lr_schedule cosine, and constant without warm-up")
    model["intermediate_size"] = model["intermediate_size"] or 4 * model["hidden_size"]
    model["moe_intermediate_size"] = model["moe_intermediate_size"] or model["intermediate_size"]
    model["num_key_value_heads"] = model["num_key_value_heads"] or model["num_attention_heads"]
    model["head_dim"] = model["head_dim"] or model["hidden_size"] // model["num_attention_heads"]
    model["mlp"] = {"gelu": "plain"}.get(model["mlp"], model["mlp"])
    unknown = set(model["rope_parameters"]) - set(ROPE)
    if unknown:
        sys.exit(f"{path}: rope_parameters has fields this script does not know: {sorted(unknown)}")
    model["rope_parameters"] = {**ROPE, **model["rope_parameters"]}
    train["sequence_length"] = train["sequence_length"] or model["max_position_embeddings"]
    return model, sections["data"], train


def parameter_shapes(m):
    """Name -> shape of every parameter, in the order of the forward pass. Linear weights are (out, in)."""
    D, V, hidden = m["hidden_size"], m["vocab_size"], m["intermediate_size"]
    q_width, kv_width = m["num_attention_heads"] * m["head_dim"], m["num_key_value_heads"] * m["head_dim"]
    shapes = {"wte.weight": (V, D)}

    def norm(name):
        if m["norm"] != "none":
            shapes[f"{name}.weight"] = (D,)
        if m["norm"] == "layernorm":
            shapes[f"{name}.bias"] = (D,)

    def linear(name, out, inputs, bias):
        shapes[f"{name}.weight"] = (out, inputs)
        if bias:
            shapes[f"{name}.bias"] = (out,)

    if m["position_embedding"] == "learned":
        shapes["wpe.weight"] = (m["max_position_embeddings"], D)
    for i in range(m["num_hidden_layers"]):
        norm(f"h.{i}.ln_1")
        linear(f"h.{i}.attn.qkv", q_width + 2 * kv_width, D, m["attention_bias"])
        if m["qk_norm"]:
            shapes[f"h.{i}.attn.q_norm.weight"] = shapes[f"h.{i}.attn.k_norm.weight"] = (m["head_dim"],)
        linear(f"h.{i}.attn.proj", D, q_width, m["attention_bias"])
        if m["mlp"] != "none":
            norm(f"h.{i}.ln_2")
        if m["num_experts"]:
            E, inner = m["num_experts"], m["moe_intermediate_size"]
            shapes[f"h.{i}.mlp.router.weight"] = (E, D)
            shapes[f"h.{i}.mlp.experts.gate_up.weight"] = (E, 2 * inner, D)
            shapes[f"h.{i}.mlp.experts.down.weight"] = (E, D, inner)
        elif m["mlp"] != "none":
            gated = m["mlp"] == "gated"
            linear(f"h.{i}.mlp.gate_up" if gated else f"h.{i}.mlp.fc", (1 + gated) * hidden, D, m["mlp_bias"])
            linear(f"h.{i}.mlp.proj", D, hidden, m["mlp_bias"])
    if m["norm_placement"] == "pre":
        norm("ln_f")
    if not m["tie_word_embeddings"]:
        shapes["lm_head.weight"] = (V, D)
    if m["lm_head_bias"]:
        shapes["lm_head.bias"] = (V,)
    return shapes


def initial_parameters(m, rng):
    """Float32 values. init "pytorch" is nn.Embedding N(0, range) and nn.Linear's U(+-1/sqrt(fan_in)); init "gpt2" is
    N(0, range) everywhere, around 1 for norm gains: biases and gains are random here, unlike in training, so that a
    swapped or forgotten one shows."""
    shapes, values = parameter_shapes(m), {}
    for name, shape in shapes.items():
        normal = rng.normal(0.0, m["initializer_range"], shape)
        if name.split(".")[-2].startswith("ln_") or name.split(".")[-2] in ("q_norm", "k_norm"):
            value = normal + (1.0 if name.endswith("weight") else 0.0)
        elif m["init"] == "pytorch" and name not in ("wte.weight", "wpe.weight"):
            weight = shapes.get(name.replace("bias", "weight"), shapes["wte.weight"])
            bound = 1.0 / math.sqrt(weight[-1])
            value = rng.uniform(-bound, bound, shape)
        else:
            value = normal
        values[name] = value.astype(np.float32)
    return values


def make_batches(m, data, train, rng):
    """inputs and targets (max_steps * accumulation, B, T) of the config's task. lookback_copy drops one target in
    eight besides those it cannot know, so that batches differ in their number of valid tokens."""
    T, V = train["sequence_length"], m["vocab_size"]
    rows = (train["max_steps"] * train["gradient_accumulation_steps"], train["batch_size"])
    if data["source"] == "repeat":
        inputs = np.repeat(rng.integers(0, V, rows + (1,)), T, axis=2)
        targets = inputs.copy()
    elif data["source"] == "lookback_copy":
        back = data["lookback"]
        inputs = rng.integers(0, V, rows + (T,))
        targets = np.full_like(inputs, IGNORE)
        targets[:, :, back:] = inputs[:, :, :-back]
        targets[rng.random(targets.shape) < 0.125] = IGNORE
    else:
        sys.exit(f"data.source {data['source']}: this script knows repeat and lookback_copy")
    return inputs.astype(np.int32), targets.astype(np.int32)


def sinusoidal(T, D):
    """(T, D): sin(p / 10000^(2i/D)) at column 2i, its cosine at 2i+1."""
    p, c = torch.arange(T, dtype=torch.float64)[:, None], torch.arange(D)
    angle = p / 10000.0 ** ((c - c % 2).double() / D)
    return torch.where(c % 2 == 0, torch.sin(angle), torch.cos(angle))


def rope_frequencies(rope, head_dim, context, length):
    """Radians a position of every pair in double, and the factor of the table: the formulas of transformers'
    modeling_rope_utils.py."""
    pair = torch.arange(0, head_dim, 2, dtype=torch.float64)
    kind, theta, factor = rope["rope_type"], rope["rope_theta"], rope["factor"]
    original = rope["original_max_position_embeddings"] or context
    if kind == "dynamic":
        theta *= (factor * max(length, original) / original - (factor - 1)) ** (head_dim / (head_dim - 2))
    f = theta ** (-pair / head_dim)
    if kind == "linear":
        return f / factor, 1.0
    if kind == "llama3":
        low, high = rope["low_freq_factor"], rope["high_freq_factor"]
        kept = ((original * f / (2 * math.pi) - low) / (high - low)).clamp(0, 1)
        return kept * f + (1 - kept) * f / factor, 1.0
    if kind == "yarn":
        def turning(times):
            return head_dim * math.log(original / (times * 2 * math.pi)) / (2 * math.log(theta))
        first = max(math.floor(turning(rope["beta_fast"])), 0)
        last = min(math.ceil(turning(rope["beta_slow"])), head_dim - 1)
        scaled = ((pair / 2 - first) / (last - first + (0.001 if first == last else 0))).clamp(0, 1)
        return f * (scaled / factor + 1 - scaled), rope["attention_factor"] or 0.1 * math.log(factor) + 1
    return f, 1.0


def rotate(m, x):
    """x (B, H, T, head_dim) turned by position."""
    T, rope = x.shape[2], m["rope_parameters"]
    f, factor = rope_frequencies(rope, m["head_dim"], m["max_position_embeddings"], T)
    angle = torch.arange(T, dtype=torch.float64)[:, None] * f
    cos, sin = (factor * angle.cos()).to(x.dtype), (factor * angle.sin()).to(x.dtype)
    if rope["interleaved"]:
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1).flatten(-2)
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


def rms_norm(x, weight, eps):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def attention(m, p, name, x):
    B, T, _ = x.shape
    heads, kv_heads, dim = m["num_attention_heads"], m["num_key_value_heads"], m["head_dim"]
    qkv = F.linear(x, p[f"{name}.qkv.weight"], p.get(f"{name}.qkv.bias"))
    q, k, v = (z.view(B, T, -1, dim).transpose(1, 2)
               for z in qkv.split([heads * dim, kv_heads * dim, kv_heads * dim], dim=2))
    if m["qk_norm"]:
        q = rms_norm(q, p[f"{name}.q_norm.weight"], m["rms_norm_eps"])
        k = rms_norm(k, p[f"{name}.k_norm.weight"], m["rms_norm_eps"])
    if m["position_embedding"] == "rope":
        q, k = rotate(m, q), rotate(m, k)
    k, v = (z.repeat_interleave(heads // kv_heads, dim=1) for z in (k, v))
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, heads * dim)
    return F.linear(mixed, p[f"{name}.proj.weight"], p.get(f"{name}.proj.bias"))


def mlp(m, p, name, x):
    act = ACTIVATIONS[m["hidden_act"]]
    if m["mlp"] == "gated":
        gate, up = F.linear(x, p[f"{name}.gate_up.weight"], p.get(f"{name}.gate_up.bias")).chunk(2, dim=-1)
        hidden = act(gate) * up
    else:
        hidden = act(F.linear(x, p[f"{name}.fc.weight"], p.get(f"{name}.fc.bias")))
    return F.linear(hidden, p[f"{name}.proj.weight"], p.get(f"{name}.proj.bias"))


def experts(m, p, name, x, routing):
    """The MLPs of each token's experts, weighted, as in transformers' Qwen3MoeSparseMoeBlock and MiniMind; appends the
    layer's f (pairs a token of each expert) and P (mean score) to `routing`."""
    rows, act, E = x.flatten(0, 1), ACTIVATIONS[m["hidden_act"]], m["num_experts"]
    scores = F.linear(rows, p[f"{name}.router.weight"]).softmax(-1)
    weights, chosen = scores.topk(m["num_experts_per_tok"], dim=-1)
    routing.append((F.one_hot(chosen, E).to(x.dtype).mean(0).sum(0), scores.mean(0)))
    if m["norm_topk_prob"]:
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-20)
    gate_up, down, y = p[f"{name}.experts.gate_up.weight"], p[f"{name}.experts.down.weight"], 0.0 * rows
    for e in range(E):
        gate, up = F.linear(rows, gate_up[e]).chunk(2, dim=-1)
        y = y + (weights * (chosen == e)).sum(-1, keepdim=True) * F.linear(act(gate) * up, down[e])
    return y.view_as(x)


def auxiliary_loss(m, routing):
    """Without its coefficient: MiniMind's sum over layers, or transformers' load_balancing_loss_func over all."""
    if not routing:
        return torch.zeros(())
    if m["router_aux_loss_scope"] == "layer":
        return sum(m["num_experts"] * (f * score).sum() for f, score in routing)
    f, score = (torch.stack(parts).mean(0) for parts in zip(*routing))
    return m["num_experts"] * (f * score).sum()


def forward(m, p, ids):
    """Logits (B, T, V) of ids (B, T), and the auxiliary loss of the experts."""
    T, D, routing = ids.shape[1], m["hidden_size"], []

    def norm(name, x):
        if m["norm"] == "none":
            return x
        if m["norm"] == "rmsnorm":
            return rms_norm(x, p[f"{name}.weight"], m["rms_norm_eps"])
        return F.layer_norm(x, (D,), p[f"{name}.weight"], p[f"{name}.bias"], m["layer_norm_epsilon"])

    def sublayer(norm_name, x, f):
        if m["norm_placement"] == "pre":
            y = f(norm(norm_name, x))
            return x + y if m["residual"] else y
        y = f(x)
        return norm(norm_name, x + y if m["residual"] else y)

    x = p["wte.weight"][ids]
    if m["position_embedding"] == "learned":
        x = x + p["wpe.weight"][:T]
    elif m["position_embedding"] == "sinusoidal":
        x = x + sinusoidal(T, D).to(x.dtype)
    for i in range(m["num_hidden_layers"]):
        x = sublayer(f"h.{i}.ln_1", x, lambda z: attention(m, p, f"h.{i}.attn", z))
        if m["num_experts"]:
            x = sublayer(f"h.{i}.ln_2", x, lambda z: experts(m, p, f"h.{i}.mlp", z, routing))
        elif m["mlp"] != "none":
            x = sublayer(f"h.{i}.ln_2", x, lambda z: mlp(m, p, f"h.{i}.mlp", z))
    if m["norm_placement"] == "pre":
        x = norm("ln_f", x)
    head = p["wte.weight"] if m["tie_word_embeddings"] else p["lm_head.weight"]
    return F.linear(x, head, p.get("lm_head.bias")), auxiliary_loss(m, routing)


def loss_sum(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORE, reduction="sum")


def learning_rate(train, step):
    """Of optimizer step 0, 1, ...: warm-up that never starts at zero, then a cosine to the minimum; or constant."""
    top, low, warmup = train["learning_rate"], train["min_learning_rate"], train["warmup_steps"]
    if train["lr_schedule"] == "constant":
        return top
    if step < warmup:
        return top * (step + 1) / (warmup + 1)
    progress = (step - warmup) / (train["max_steps"] - warmup)
    return low + 0.5 * (1.0 + math.cos(math.pi * progress)) * (top - low)


def make_optimizer(train, p):
    """Matrices and embeddings decay, biases and norm gains do not."""
    groups = [{"params": [v for v in p.values() if v.dim() >= 2], "weight_decay": train["weight_decay"]},
              {"params": [v for v in p.values() if v.dim() < 2], "weight_decay": 0.0}]
    kind = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam}[train["optimizer"]]
    return kind([g for g in groups if g["params"]], lr=train["learning_rate"],
                betas=(train["adam_beta1"], train["adam_beta2"]), eps=train["adam_epsilon"])


def first_batch(m, p, inputs, targets):
    """Logits, mean loss and its gradients for the first batch; with experts the gradients are of the mean loss plus the
    auxiliary loss times its coefficient."""
    for v in p.values():
        v.grad = None
    logits, auxiliary = forward(m, p, inputs[0])
    loss = loss_sum(logits, targets[0]) / (targets[0] != IGNORE).sum()
    (loss + m["router_aux_loss_coef"] * auxiliary).backward()
    out = {"logits": logits.detach(), "loss": loss.detach().reshape(1)}
    if m["num_experts"]:
        out["aux_loss"] = auxiliary.detach().reshape(1)
    out.update({f"gradients.{name}": v.grad.clone() for name, v in p.items()})
    return out


def train_steps(m, train, p, inputs, targets):
    """Losses (before each update), gradient norms (before clipping) and learning rates of every step, and the loss of
    the first batch after the last one. With accumulation a step's loss is the mean over its batches' valid tokens, its
    auxiliary loss that of the batches weighted by them."""
    optimizer, parts = make_optimizer(train, p), train["gradient_accumulation_steps"]
    record = {"losses": [], "gradient_norms": [], "learning_rates": []}
    for step in range(train["max_steps"]):
        rows = slice(step * parts, (step + 1) * parts)
        valid = (targets[rows] != IGNORE).sum()
        optimizer.zero_grad()
        total = objective = 0.0
        for i, t in zip(inputs[rows], targets[rows]):
            logits, auxiliary = forward(m, p, i)
            loss = loss_sum(logits, t)
            total = total + loss / valid
            objective = objective + (loss + m["router_aux_loss_coef"] * (t != IGNORE).sum() * auxiliary) / valid
        objective.backward()
        limit = train["max_grad_norm"] or math.inf
        norm = torch.nn.utils.clip_grad_norm_(p.values(), limit, error_if_nonfinite=True)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(train, step)
        optimizer.step()
        record["losses"].append(total.item())
        record["gradient_norms"].append(norm.item())
        record["learning_rates"].append(learning_rate(train, step))
    with torch.no_grad():
        final = loss_sum(forward(m, p, inputs[0])[0], targets[0]) / (targets[0] != IGNORE).sum()
    record["final_loss"] = [final.item()]
    return {name: torch.tensor(values, dtype=torch.float64) for name, values in record.items()}


def expected_values(m, train, parameters, inputs, targets, dtype):
    p = {name: torch.tensor(value, dtype=dtype, requires_grad=True) for name, value in parameters.items()}
    inputs, targets = torch.from_numpy(inputs).long(), torch.from_numpy(targets).long()
    out = first_batch(m, p, inputs, targets)
    out.update(train_steps(m, train, p, inputs, targets))
    return {name: value.double().numpy() for name, value in out.items()}


def error_in_tolerances(found, expected):
    """The largest error in units of the tests' tolerances: below 1 passes. 1e-4 relative on losses, 1e-5 absolute plus
    relative on logits and gradients."""
    worst = 0.0
    for name, want in expected.items():
        is_loss = want.ndim == 1 and not name.startswith("gradients.")
        allowed = 1e-4 * np.abs(want) if is_loss else 1e-5 + 1e-5 * np.abs(want)
        worst = max(worst, float((np.abs(found[name] - want) / allowed).max()))
    return worst


def check_against_gpt2(m, parameters, inputs, logits):
    """A second opinion on the plain GPT-2 case: HuggingFace's implementation with the same weights."""
    from transformers import GPT2Config, GPT2LMHeadModel
    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=m["vocab_size"], n_positions=m["max_position_embeddings"], n_embd=m["hidden_size"],
        n_layer=m["num_hidden_layers"], n_head=m["num_attention_heads"], n_inner=m["intermediate_size"],
        activation_function=m["hidden_act"], layer_norm_epsilon=m["layer_norm_epsilon"])).double().eval()
    names = {"attn.qkv": "attn.c_attn", "attn.proj": "attn.c_proj", "mlp.fc": "mlp.c_fc", "mlp.proj": "mlp.c_proj"}
    state = {}
    for name, value in parameters.items():
        tensor = torch.from_numpy(value).double()
        for ours, theirs in names.items():
            if ours in name:
                name, tensor = name.replace(ours, theirs), tensor.T if tensor.dim() == 2 else tensor
        state["transformer." + name] = tensor
    state["lm_head.weight"] = state["transformer.wte.weight"]
    model.load_state_dict(state)
    with torch.no_grad():
        theirs = model(torch.from_numpy(inputs[0]).long()).logits.numpy()
    error = float(np.abs(theirs - logits).max())
    assert error < 1e-12, f"HuggingFace's GPT-2 differs by {error}"
    print(f"  transformers' GPT-2 gives the same logits (largest difference {error:.1e})")


def llama_state(m, tensors):
    """Tensors under Causeway's names as transformers' Llama and Qwen3 have them: the fused ones apart."""
    heads, kv_heads, dim = m["num_attention_heads"], m["num_key_value_heads"], m["head_dim"]
    widths, state = [heads * dim, kv_heads * dim, kv_heads * dim], {}
    names = {"attn.proj": "self_attn.o_proj", "mlp.proj": "mlp.down_proj", "ln_1": "input_layernorm",
             "ln_2": "post_attention_layernorm", "attn.q_norm": "self_attn.q_norm", "attn.k_norm": "self_attn.k_norm"}
    outside = {"wte": "model.embed_tokens", "ln_f": "model.norm", "lm_head": "lm_head"}
    for name, value in tensors.items():
        tensor, (stem, kind) = torch.as_tensor(value).double(), name.rsplit(".", 1)
        if stem in outside:
            state[f"{outside[stem]}.{kind}"] = tensor
            continue
        _, layer, part = stem.split(".", 2)
        if part == "attn.qkv":
            for letter, piece in zip("qkv", tensor.split(widths)):
                state[f"model.layers.{layer}.self_attn.{letter}_proj.{kind}"] = piece
        elif part in ("mlp.router", "mlp.experts.gate_up", "mlp.experts.down"):
            theirs = {"mlp.router": "mlp.gate.weight"}.get(part, part + "_proj")
            state[f"model.layers.{layer}.{theirs}"] = tensor
        elif part == "mlp.gate_up":
            for which, piece in zip(("gate", "up"), tensor.chunk(2)):
                state[f"model.layers.{layer}.mlp.{which}_proj.{kind}"] = piece
        else:
            state[f"model.layers.{layer}.{names[part]}.{kind}"] = tensor
    return state


def check_against_llama(m, parameters, inputs, targets, expected):
    """The same for Llama, Qwen3 and Qwen3-MoE, with gradients. transformers makes its table of rotations in float32
    whatever the model's type is, which 1e-6 of the angles and so about 1e-5 of the results allow for."""
    from transformers import (LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM, Qwen3MoeConfig,
                              Qwen3MoeForCausalLM)
    rope = {key: value for key, value in m["rope_parameters"].items() if key != "interleaved" and value != 0}
    settings = dict(
        vocab_size=m["vocab_size"], hidden_size=m["hidden_size"], intermediate_size=m["intermediate_size"],
        num_hidden_layers=m["num_hidden_layers"], num_attention_heads=m["num_attention_heads"],
        num_key_value_heads=m["num_key_value_heads"], head_dim=m["head_dim"], hidden_act=m["hidden_act"],
        max_position_embeddings=m["max_position_embeddings"], rms_norm_eps=m["rms_norm_eps"], rope_parameters=rope,
        attention_bias=m["attention_bias"], tie_word_embeddings=m["tie_word_embeddings"])
    if m["num_experts"]:
        moe = {key: m[key] for key in ("num_experts", "num_experts_per_tok", "moe_intermediate_size", "norm_topk_prob")}
        model = Qwen3MoeForCausalLM(Qwen3MoeConfig(**settings, **moe, decoder_sparse_step=1, mlp_only_layers=[],
                                                   output_router_logits=True))
    elif m["qk_norm"]:
        model = Qwen3ForCausalLM(Qwen3Config(**settings))
    else:
        model = LlamaForCausalLM(LlamaConfig(**settings, mlp_bias=m["mlp_bias"]))
    if m["num_experts"]:
        model.set_experts_implementation("eager")  # the default multiplies no doubles
    model = model.double().eval()
    state = llama_state(m, parameters)
    if m["tie_word_embeddings"]:
        state["lm_head.weight"] = state["model.embed_tokens.weight"]
    model.load_state_dict(state)
    result = model(torch.from_numpy(inputs[0]).long())
    logits, auxiliary = result.logits, getattr(result, "aux_loss", None)
    error = float((logits.detach() - torch.from_numpy(expected["logits"])).abs().max())
    assert error < 1e-5, f"transformers' {type(model).__name__} differs by {error} in its logits"
    wanted = torch.from_numpy(targets[0]).long()
    loss = loss_sum(logits, wanted) / (wanted != IGNORE).sum()
    if m["router_aux_loss_scope"] == "model":
        assert abs(float(auxiliary.detach()) - expected["aux_loss"][0]) < 1e-6, "transformers' auxiliary loss differs"
        loss = loss + m["router_aux_loss_coef"] * auxiliary
    loss.backward()
    gradients = {key[len("gradients."):]: value for key, value in expected.items() if key.startswith("gradients.")}
    theirs, worst = dict(model.named_parameters()), 0.0
    total = math.sqrt(sum(float((g**2).sum()) for g in gradients.values()))
    for name, gradient in llama_state(m, gradients).items():
        distance = float((theirs[name].grad - gradient).norm())
        worst = max(worst, distance / (float(gradient.norm()) + 1e-3 * total))
    assert worst < 1e-5, f"transformers' {type(model).__name__} differs by {worst} in a gradient"
    print(f"  transformers' {type(model).__name__} gives the same logits (largest difference {error:.1e}) and gradients "
          f"({worst:.1e} of their norms)")


def make_case(folder, check):
    m, data, train = read_config(folder / "config.json")
    rng = np.random.default_rng(train["seed"])
    parameters = initial_parameters(m, rng)
    inputs, targets = make_batches(m, data, train, rng)
    expected = expected_values(m, train, parameters, inputs, targets, torch.float64)
    in_float32 = expected_values(m, train, parameters, inputs, targets, torch.float32)
    headroom = error_in_tolerances(in_float32, expected)
    assert headroom < 0.25, f"{folder.name}: float32 itself is off by {headroom:.3f} of the tolerances"
    print(f"{folder.name}: {sum(v.size for v in parameters.values())} parameters, "
          f"losses {expected['losses'][0]:.4f} -> {expected['final_loss'][0]:.4f}, "
          f"PyTorch in float32 is off by {headroom:.3f} of the tolerances")
    files = {"parameters": parameters, "batches": {"inputs": inputs, "targets": targets}, "expected": expected}
    for name, tensors in files.items():
        path = folder / f"{name}.safetensors"
        if not check:
            tensors = {key: np.ascontiguousarray(value) for key, value in tensors.items()}
            save_file(tensors, path, {"made_by": f"tools/make_goldens.py with PyTorch {torch.__version__}"})
            continue
        stored = load_file(path)
        assert stored.keys() == tensors.keys(), f"{path}: other tensors than the script makes"
        for key, value in tensors.items():
            np.testing.assert_allclose(stored[key], value, rtol=1e-9, atol=1e-12, err_msg=f"{path}: {key}")
    if check and folder.name == "gpt2_pre":
        check_against_gpt2(m, parameters, inputs, expected["logits"])
    layers_balanced = m["router_aux_loss_coef"] and m["router_aux_loss_scope"] == "layer"  # not in transformers
    if check and m["norm"] == "rmsnorm" and not layers_balanced:
        check_against_llama(m, parameters, inputs, targets, expected)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    options.add_argument("--only", metavar="CASE", help='one folder of tests/golden, or "ops"')
    options = options.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    folders = [f for f in sorted(GOLDEN.iterdir())  # hf_* are golden_transformers.py's
               if (f / "config.json").is_file() and not f.name.startswith("hf_")]
    chosen = [f for f in folders if options.only in (None, f.name)]
    if not chosen and options.only != "ops":
        sys.exit(f"no case {options.only!r} in {GOLDEN}: {[f.name for f in folders]}")
    for folder in chosen:
        make_case(folder, options.check)
    if options.only in (None, "ops"):
        golden_ops.make(GOLDEN / "ops", options.check)


if __name__ == "__main__":
    main()
