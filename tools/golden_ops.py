"""The single-op goldens of tests/golden/ops, made by make_goldens.py: one JSON file an op, a list of cases each.

Inputs are multiples of 1/256 unless a case needs others: exact in float32 and short in JSON. Outputs and gradients are
computed in float64 and written with 13 significant digits. Arrays are flat, row-major.
"""
import json
import math

import numpy as np
import torch
import torch.nn.functional as F


def draw(rng, *shape, scale=1.0):
    """Normal values rounded to multiples of 1/256."""
    return torch.from_numpy(np.round(rng.normal(0.0, scale, shape) * 256.0) / 256.0)


def flat(tensor):
    return [float(f"{value:.13g}") for value in tensor.detach().flatten().tolist()]


def gradients(y, dy, *inputs):
    return [flat(g) for g in torch.autograd.grad(y, inputs, dy)]


def layernorm(rng):
    def case(name, x, weight=None, bias=None, eps=1e-5):
        rows, cols = x.shape
        weight = 1.0 + draw(rng, cols, scale=0.2) if weight is None else weight
        bias = draw(rng, cols, scale=0.2) if bias is None else bias
        dy = draw(rng, rows, cols)
        for t in (x, weight, bias):
            t.requires_grad_()
        y, mean, rstd = torch.native_layer_norm(x, (cols,), weight, bias, eps)
        dx, dweight, dbias = gradients(y, dy, x, weight, bias)
        return dict(name=name, rows=rows, cols=cols, eps=eps, x=flat(x), weight=flat(weight), bias=flat(bias),
                    y=flat(y), mean=flat(mean), rstd=flat(rstd), dy=flat(dy), dx=dx, dweight=dweight, dbias=dbias)

    ones, zeros = torch.ones(4, dtype=torch.float64), torch.zeros(4, dtype=torch.float64)
    large = torch.tensor([[40000.0, 40001.0, 40002.0, 40003.0]], dtype=torch.float64)
    return [case("one column", draw(rng, 3, 1)), case("odd", draw(rng, 5, 15)),
            case("tail", draw(rng, 3, 67, scale=3.0)), case("full vectors", draw(rng, 4, 64)),
            case("eps 1e-3", draw(rng, 2, 13), eps=1e-3), case("B16 large mean", large, ones, zeros),
            case("B17 constant row", torch.full((2, 17), 2.5, dtype=torch.float64))]


def gelu(rng):
    edges = [0.0, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 50.0, 100.0, 1e4]
    values = [s * e for e in edges for s in (1.0, -1.0)] + flat(draw(rng, 45, scale=2.0))
    cases = []
    for name, approximate in (("gelu_new", "tanh"), ("gelu", "none")):
        x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
        dy = draw(rng, x.numel())
        y = F.gelu(x, approximate=approximate)
        (derivative,) = gradients(y, torch.ones_like(x), x)
        y = F.gelu(x, approximate=approximate)
        (dx,) = gradients(y, dy, x)
        cases.append(dict(name=name, x=values, y=flat(y), derivative=derivative, dy=flat(dy), dx=dx))
    return cases


def softmax(rng):
    def case(name, x):
        dy = draw(rng, *x.shape)
        x.requires_grad_()
        y = torch.softmax(x, dim=1)
        (dx,) = gradients(y, dy, x)
        return dict(name=name, rows=x.shape[0], cols=x.shape[1], x=flat(x), y=flat(y), lse=flat(torch.logsumexp(x, 1)),
                    dy=flat(dy), dx=dx)

    return [case("one column", draw(rng, 3, 1)), case("odd", draw(rng, 5, 17, scale=2.0)),
            case("tail", draw(rng, 2, 67)), case("full vectors", draw(rng, 3, 64, scale=4.0)),
            case("wide range", draw(rng, 3, 19, scale=60.0)),
            case("large values", 30000.0 + draw(rng, 2, 9, scale=2.0)),
            case("far below zero", (-200000.0 + draw(rng, 2, 9, scale=2.0)).float().double()),
            case("equal values", torch.full((2, 12), -7.25, dtype=torch.float64))]


def attention(rng):
    """Causal self-attention on the fused buffer qkv (B,T,3D), rows q|k|v, D = H Dh, scale 1/sqrt(Dh)."""
    def case(name, B, H, T, Dh, scale=1.0):
        D = H * Dh
        qkv = draw(rng, B, T, 3 * D, scale=scale).requires_grad_()
        dout = draw(rng, B, T, D)
        q, k, v = (z.view(B, T, H, Dh).transpose(1, 2) for z in qkv.split(D, dim=2))
        scores = q @ k.transpose(2, 3) / math.sqrt(Dh)
        scores = scores.masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf)
        weights = torch.softmax(scores, dim=3)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        assert torch.allclose(weights @ v, out, rtol=1e-12, atol=1e-12)
        out = out.transpose(1, 2).reshape(B, T, D)
        (dqkv,) = gradients(out, dout, qkv)
        return dict(name=name, B=B, H=H, T=T, Dh=Dh, qkv=flat(qkv), out=flat(out), weights=flat(weights),
                    lse=flat(torch.logsumexp(scores, 3)), dout=flat(dout), dqkv=dqkv)

    return [case("one token", 2, 3, 1, 5), case("odd", 1, 3, 13, 5), case("two tokens, width 1", 2, 1, 2, 1),
            case("repeat task", 1, 4, 12, 8), case("past a block of 32", 1, 1, 33, 4),
            case("past a block of 64", 1, 1, 65, 3), case("wide head", 1, 1, 6, 67),
            case("scores in the tens of thousands", 1, 2, 9, 6, scale=200.0)]


def bloom_alibi(heads, T):
    """The bias (H,1,T) of BLOOM: slope * key position, which differs from -slope * distance by a constant a row."""
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2.0 ** (-8 * (h + 1) / power) for h in range(power)]
    slopes += [2.0 ** (-8 * (2 * h + 1) / (2 * power)) for h in range(heads - power)]
    return torch.tensor(slopes, dtype=torch.float64)[:, None, None] * torch.arange(T, dtype=torch.float64)


def attention_variants(rng):
    """Self-attention on the fused buffer (B,T,(H + 2 Hkv) Dh) with what hides keys and biases scores. `mask` is (T,T) or
    (B,H,T,T) and `key_mask` (B,T), 0 hides; a query that sees nothing gives 0."""
    def case(name, B, H, Hkv, T, Dh, causal=True, window=0, mask=None, key_mask=None, alibi=False, scale=None):
        qkv = draw(rng, B, T, (H + 2 * Hkv) * Dh).requires_grad_()
        dout = draw(rng, B, T, H * Dh)
        heads = (z.view(B, T, -1, Dh).transpose(1, 2) for z in qkv.split([H * Dh, Hkv * Dh, Hkv * Dh], dim=2))
        q, k, v = (z.repeat_interleave(H // z.shape[1], dim=1) for z in heads)
        distance = torch.arange(T)[:, None] - torch.arange(T)
        visible = torch.ones(B, H, T, T, dtype=torch.bool)
        if causal:
            visible &= distance >= 0
        if window:
            visible &= distance < window if causal else distance.abs() <= window
        if mask is not None:
            visible &= mask.bool()
        if key_mask is not None:
            visible &= key_mask.bool()[:, None, None, :]
        bias = torch.zeros(B, H, T, T, dtype=torch.float64)
        if alibi:
            bias = bias + (bloom_alibi(H, T) if causal else -bloom_alibi(H, 2)[..., 1:] * distance.abs())
        bias = bias.masked_fill(~visible, -math.inf)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=scale)
        weights = torch.nan_to_num(torch.softmax(q @ k.transpose(2, 3) * (scale or Dh**-0.5) + bias, dim=3))
        assert torch.allclose(weights @ v, out, rtol=1e-12, atol=1e-12)
        # Where a row sees nothing SDPA's gradient is 0 too; through nan_to_num it is NaN.
        out = out.transpose(1, 2).reshape(B, T, H * Dh)
        (dqkv,) = gradients(out, dout, qkv)
        return dict(name=name, B=B, H=H, Hkv=Hkv, T=T, Dh=Dh, causal=causal, window=window, alibi=alibi,
                    scale=scale or Dh**-0.5, mask=[] if mask is None else mask.flatten().tolist(),
                    key_mask=[] if key_mask is None else key_mask.flatten().tolist(), qkv=flat(qkv), out=flat(out),
                    weights=flat(weights), dout=flat(dout), dqkv=dqkv)

    def bits(*shape):
        return torch.from_numpy((rng.random(shape) < 0.6).astype(np.int64))

    left_padding = torch.tensor([[1] * 9, [0] * 4 + [1] * 5])
    blind = bits(11, 11)
    blind[3] = 0  # a query that sees nothing
    return [case("not causal", 2, 3, 3, 7, 5, causal=False), case("scale", 1, 2, 2, 6, 4, scale=0.3),
            case("sliding window", 1, 2, 1, 19, 5, window=4), case("symmetric window", 1, 2, 2, 13, 4, False, 3),
            case("one mask", 1, 2, 2, 11, 5, False, mask=blind), case("a mask a head", 2, 2, 1, 9, 4, mask=bits(2, 2, 9, 9)),
            case("B01 left padding", 2, 2, 2, 9, 4, key_mask=left_padding), case("BLOOM", 1, 6, 2, 21, 5, alibi=True),
            case("ALiBi on both sides", 1, 3, 3, 12, 4, False, alibi=True),
            case("all together", 2, 4, 2, 9, 4, window=5, mask=bits(2, 4, 9, 9), key_mask=left_padding, alibi=True)]


def check_bloom():
    """transformers' own bias; its two ways to the slopes of the remaining heads round differently."""
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor
    for heads in (6, 8, 12):
        theirs = build_alibi_tensor(torch.ones(1, 9, dtype=torch.int64), heads, torch.float64)
        assert torch.allclose(theirs, bloom_alibi(heads, 9), rtol=1e-6), heads


def cross_entropy(rng):
    """Sums over the rows whose target is not -100: what Causeway accumulates; a mean divides by `valid`."""
    def case(name, logits, targets):
        logits, targets = logits.requires_grad_(), torch.tensor(targets)
        loss = F.cross_entropy(logits, targets, ignore_index=-100, reduction="none")
        (dlogits,) = gradients(loss.sum(), torch.ones((), dtype=torch.float64), logits)
        return dict(name=name, rows=logits.shape[0], vocab=logits.shape[1], logits=flat(logits),
                    targets=targets.tolist(), losses=flat(loss), lse=flat(torch.logsumexp(logits, 1)),
                    loss_sum=loss.sum().item(), valid=int((targets != -100).sum()), dlogits=dlogits)

    odd = rng.integers(0, 67, 13)
    odd[[0, 5, 12]] = -100
    zeros = lambda rows, vocab: torch.zeros(rows, vocab, dtype=torch.float64)
    return [case("odd, some ignored", draw(rng, 13, 67, scale=2.0), odd.tolist()),
            case("full vectors", draw(rng, 4, 64), rng.integers(0, 64, 4).tolist()),
            case("B06 all ignored", draw(rng, 3, 17), [-100] * 3), case("first and last id", draw(rng, 2, 33), [0, 32]),
            case("one class", draw(rng, 2, 1), [0, 0]), case("B20 two classes", zeros(2, 2), [0, 1]),
            case("B20 bytes", zeros(1, 256), [255]),
            case("large logits", draw(rng, 4, 19, scale=5000.0), [0, 3, 18, -100])]


def adamw(rng):
    """Each step's gradient, and parameter, first and second moment after it."""
    def case(name, w, steps, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        w = torch.tensor(w, dtype=torch.float64, requires_grad=True)
        optimizer = torch.optim.AdamW([w], lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)
        out = dict(name=name, learning_rate=lr, beta1=betas[0], beta2=betas[1], epsilon=eps, weight_decay=weight_decay,
                   w=flat(w), steps=[])
        for gradient in steps:
            w.grad = torch.tensor(gradient, dtype=torch.float64)
            optimizer.step()
            state = optimizer.state[w]
            moments = dict(m=flat(state["exp_avg"]), v=flat(state["exp_avg_sq"]))
            out["steps"].append(dict(gradient=gradient, w=flat(w), **moments))
        return out

    def random_steps(size, count):
        return [flat(draw(rng, size)) for _ in range(count)]

    return [case("B36 decay alone", [1.0, -2.0, 0.5], [[0.0] * 3], weight_decay=0.1),
            case("B36 no decay, no gradient", [1.0, -2.0, 0.5], [[0.0] * 3]),
            case("B37", [1.0, 1.0], [[0.5, 1e-8]], weight_decay=0.1),
            case("ten steps with decay", flat(draw(rng, 19)), random_steps(19, 10), 1e-2, (0.9, 0.95),
                 weight_decay=0.1),
            case("ten steps of Adam", flat(draw(rng, 16)), random_steps(16, 10), 5e-3),
            case("large epsilon", flat(draw(rng, 7)), random_steps(7, 3), 1e-2, eps=1e-1, weight_decay=0.01)]


def clip(rng):
    """Global L2 norm over all tensors; each is scaled by min(1, max_norm / (norm + 1e-6))."""
    def case(name, tensors, max_norm):
        parameters = [torch.zeros(len(t), dtype=torch.float64, requires_grad=True) for t in tensors]
        for p, gradient in zip(parameters, tensors):
            p.grad = torch.tensor(gradient, dtype=torch.float64)
        norm = torch.nn.utils.clip_grad_norm_(parameters, max_norm).item()
        return dict(name=name, gradients=tensors, max_norm=max_norm, norm=norm,
                    clipped=[flat(p.grad) for p in parameters])

    two = [flat(draw(rng, 17)), flat(draw(rng, 5))]
    return [case("clipped", two, 1.0), case("below the limit", two, 100.0), case("all zero", [[0.0] * 3, [0.0]], 1.0),
            case("B21 huge", [[1e20] * 60, [1e20] * 40], 1.0)]


def sgd(rng):
    """Each step's gradient, and parameter and momentum buffer after it; without momentum there is no buffer."""
    def case(name, w, steps, lr, momentum=0.0, weight_decay=0.0):
        w = torch.tensor(w, dtype=torch.float64, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=lr, momentum=momentum, weight_decay=weight_decay)
        out = dict(name=name, learning_rate=lr, momentum=momentum, weight_decay=weight_decay, w=flat(w), steps=[])
        for gradient in steps:
            w.grad = torch.tensor(gradient, dtype=torch.float64)
            optimizer.step()
            buffer = optimizer.state[w].get("momentum_buffer") if momentum > 0 else None
            out["steps"].append(dict(gradient=gradient, w=flat(w), m=flat(buffer) if buffer is not None else []))
        return out

    def random_steps(size, count):
        return [flat(draw(rng, size)) for _ in range(count)]

    return [case("plain", flat(draw(rng, 17)), random_steps(17, 3), 0.1),
            case("decay alone", [1.0, -2.0, 0.5], [[0.0] * 3], 1e-3, weight_decay=0.1),
            case("plain with decay", flat(draw(rng, 19)), random_steps(19, 5), 0.05, weight_decay=0.1),
            case("ten steps with momentum", flat(draw(rng, 16)), random_steps(16, 10), 1e-2, momentum=0.9),
            case("ten steps with momentum and decay", flat(draw(rng, 35)), random_steps(35, 10), 2e-2, momentum=0.75,
                 weight_decay=0.05)]


OPS = (layernorm, gelu, softmax, attention, cross_entropy, adamw, clip, attention_variants, sgd)


def assert_known_values(files):
    """Values known from elsewhere, by hand or from the case's source: guards the script itself."""
    def of(op, name):
        return next(case for case in files[op] if case["name"] == name)

    np.testing.assert_allclose(of("layernorm", "B16 large mean")["y"], [-1.34164, -0.447212, 0.447212, 1.34164],
                               atol=1e-4)
    np.testing.assert_allclose(of("gelu", "gelu")["y"][2], 0.8413447, atol=1e-7)
    np.testing.assert_allclose(of("gelu", "gelu_new")["y"][2], 0.8411920, atol=1e-7)
    np.testing.assert_allclose(of("adamw", "B36 decay alone")["steps"][0]["w"], [0.9999, -1.9998, 0.49995], rtol=1e-12)
    np.testing.assert_allclose(of("adamw", "B37")["steps"][0]["w"], [0.9989, 0.9994], rtol=1e-8)
    np.testing.assert_allclose(of("sgd", "decay alone")["steps"][0]["w"], [0.9999, -1.9998, 0.49995], rtol=1e-12)
    np.testing.assert_allclose(of("cross_entropy", "B20 bytes")["loss_sum"], math.log(256.0), rtol=1e-12)
    np.testing.assert_allclose(of("clip", "B21 huge")["norm"], 1e21, rtol=1e-12)
    np.testing.assert_allclose(of("clip", "B21 huge")["clipped"][1], 0.1, rtol=1e-12)


def assert_close(found, expected, where):
    """Numbers within rounding, everything else equal."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), f"{where}: {found.keys()} != {expected.keys()}"
        for key in expected:
            assert_close(found[key], expected[key], f"{where}.{key}")
    elif isinstance(expected, list) and not all(isinstance(e, (int, float)) for e in expected):
        assert len(found) == len(expected), where
        for i, (f, e) in enumerate(zip(found, expected)):
            assert_close(f, e, f"{where}[{i}]")
    elif isinstance(expected, str):
        assert found == expected, where
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=where)


def write(path, cases):
    """One key a line: long arrays stay on one line, and a diff shows which array changed."""
    def text(case):
        return ",\n".join(f'  "{key}": {json.dumps(value, allow_nan=False)}' for key, value in case.items())

    path.write_text("[\n" + ",\n".join("{\n" + text(case) + "\n}" for case in cases) + "\n]\n")


def make(folder, check):
    files = {op.__name__: op(np.random.default_rng(seed)) for seed, op in enumerate(OPS)}
    assert_known_values(files)
    if check:
        check_bloom()
    folder.mkdir(exist_ok=True)
    for name, cases in files.items():
        path = folder / f"{name}.json"
        if check:
            assert_close(json.loads(path.read_text()), cases, str(path))
        else:
            write(path, cases)
        print(f"ops/{name}: {len(cases)} cases")
