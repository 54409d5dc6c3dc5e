#!/usr/bin/env python3
"""Plots what causeway_bench measured, as SVG.

usage: tools/plot_bench.py DIR OUT

DIR holds one JSON file a family, as tools/bench.sh writes them. OUT gets
  attention_growth.svg   time and memory of tiled and explicit attention against the sequence length
  train_growth.svg       time of a training step against sequence length, width and depth
  roofline.svg           every kernel below the peaks of the machine
as far as DIR has the families they need. The same results give the same bytes. Needs matplotlib (Debian package
python3-matplotlib); exits 3 without it.

example: tools/plot_bench.py build/bench docs/images
"""
import argparse
import math
import pathlib
import re
import sys

from bench_results import read_results

try:
    import matplotlib
except ImportError:
    print("plot_bench.py: matplotlib is missing, no plots (Debian package python3-matplotlib)", file=sys.stderr)
    sys.exit(3)
matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator  # noqa: E402

GREY = "#767676"  # legible on white and on black
# Okabe and Ito's colours (the blue a little lighter), told apart by the colour-blind; markers tell the same.
BLUE, ORANGE, GREEN, RED, PURPLE, SKY = "#1F7FBF", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"
STYLE = {
    "svg.hashsalt": "causeway", "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif",
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none", "text.color": GREY,
    "axes.edgecolor": GREY, "axes.labelcolor": GREY, "axes.titlecolor": GREY, "axes.titlesize": 10,
    "xtick.color": GREY, "ytick.color": GREY, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "axes.grid.axis": "y", "grid.color": GREY, "grid.alpha": 0.25, "grid.linewidth": 0.6,
    "lines.linewidth": 1.6, "lines.markersize": 4.5,
}


def log_axes(axes, xs, xlabel, ylabel, title):
    """Both axes logarithmic, with a tick at each x and plain numbers."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(FixedLocator(xs))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.set_title(title, loc="left")


def draw_guide(axes, xs, ys, text):
    """A dashed line to compare slopes with."""
    return axes.plot(xs, ys, color=GREY, linestyle=(0, (4, 3)), linewidth=1, zorder=1, label=text)


def label_ends(axes, ends):
    """Names each (x, y, text, color) at the end of its line, pushed apart where they would overlap."""
    previous = float("-inf")
    for x, y, text, color in sorted(ends, key=lambda end: end[1]):
        height = axes.transData.transform((x, y))[1]
        place = max(height, previous + 11)
        axes.annotate(text, (x, y), xytext=(7, place - height - 3), textcoords="offset points", color=color,
                      annotation_clip=False)
        previous = place


def save(figure, path):
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    print(path)


def plot_attention_growth(results, out):
    _, cases = results["attention_growth"]
    series = [("attention_fwd", "tiled, forward", BLUE, "o"), ("attention_bwd", "tiled, backward", GREEN, "s"),
              ("attention_explicit_fwd", "explicit, forward", RED, "^")]
    points = {}
    for case in cases:
        kernel, length = re.match(r"(\w+)/f32/B1H4T(\d+)D64", case.name).groups()
        points.setdefault(kernel, []).append((int(length), case))
    figure, panels = plt.subplots(1, 2, figsize=(9.4, 3.9), dpi=72)
    values = [lambda case: case.best_ns * 1e-6, lambda case: case.counters["MiB"]]
    titles = [("time (ms)", "Time"), ("memory beside Q, K, V and the output (MiB)", "Memory")]
    every = []
    for axes, value, title in zip(panels, values, titles):
        ends = []
        for kernel, text, color, marker in series:
            found = sorted(points[kernel], key=lambda point: point[0])
            xs, ys = [length for length, _ in found], [value(case) for _, case in found]
            axes.plot(xs, ys, color=color, marker=marker)
            ends.append((xs[-1], ys[-1], text, color))
        log_axes(axes, xs, "sequence length T", *title)
        axes.tick_params(axis="x", labelrotation=45)
        every.append((axes, ends))
    first = min(case.best_ns * 1e-6 for _, case in points["attention_fwd"])
    draw_guide(panels[0], xs, [0.4 * first * (x / xs[0]) ** 2 for x in xs], "in proportion to T²")
    panels[0].legend(loc="upper left", frameon=False, fontsize=8, labelcolor=GREY)
    figure.tight_layout()
    figure.subplots_adjust(wspace=0.62, right=0.88)
    for axes, ends in every:
        label_ends(axes, ends)
    save(figure, out / "attention_growth.svg")


def plot_train_growth(results, out):
    _, cases = results["train_growth"]
    base = {"T": 128, "D": 128, "L": 4}
    sizes = {case: dict(zip("TDL", map(int, re.search(r"T(\d+)D(\d+)L(\d+)", case.name).groups()))) for case in cases}
    panels = [("T", "sequence length T", BLUE, "o"), ("D", "width D", GREEN, "s"), ("L", "layers L", RED, "^")]
    figure, row = plt.subplots(1, 3, figsize=(9.4, 3.4), sharey=True, dpi=72)
    for axes, (axis, text, color, marker) in zip(row, panels):
        chosen = [case for case in cases if all(sizes[case][a] == base[a] for a in base if a != axis)]
        chosen.sort(key=lambda case: sizes[case][axis])
        xs = [sizes[case][axis] for case in chosen]
        ys = [case.best_ns * 1e-6 for case in chosen]
        log_axes(axes, xs, text, "time of a step (ms)" if axis == "T" else "",
                 ", ".join(f"{a} {base[a]}" for a in base if a != axis))
        axes.plot(xs, ys, color=color, marker=marker)
        draw_guide(axes, xs, [ys[-1] * case.flops() / chosen[-1].flops() for case in chosen], "in proportion to FLOPs")
        axes.tick_params(axis="x", labelrotation=45)
    row[0].legend(loc="upper left", frameon=False, fontsize=8, labelcolor=GREY)
    figure.tight_layout()
    save(figure, out / "train_growth.svg")


# Groups of kernels: pattern, text, colour, marker.
GROUPS = [
    (r"softmax", "softmax", BLUE, "o"),
    (r"gemm|lm_head", "matrix products", RED, "s"),
    (r"attention", "attention", GREEN, "^"),
    (r"layernorm|rmsnorm", "norms", ORANGE, "D"),
    (r"adamw|sgd|square_sum", "optimizer", PURPLE, "v"),
    (r"", "elementwise, loss", SKY, "P"),
]


def group_of(name):
    return next(group for group in GROUPS if re.match(group[0], name))


def place_labels(axes, labelled, obstacles):
    """Writes each (x, y, text) beside its point, where it covers no obstacle (x, y) and no label so far."""
    to_pixels = axes.transData.transform
    taken = [(x - 3, y - 3, x + 3, y + 3) for x, y in to_pixels(obstacles)]
    for x, y, text in sorted(labelled, key=lambda entry: (-entry[1], entry[0])):
        px, py = to_pixels((x, y))
        width, height = 4.6 * len(text), 8
        for side, dy in [(side, dy) for dy in (0, 8, -8, 16, -16, 24, -24, 32, -32) for side in (1, -1)]:
            left = px + 6 if side > 0 else px - 6 - width
            box = (left, py + dy - height / 2, left + width, py + dy + height / 2)
            free = all(box[2] < t[0] or box[0] > t[2] or box[3] < t[1] or box[1] > t[3] for t in taken)
            if free and box[2] < axes.bbox.x1 and box[0] > axes.bbox.x0:
                break
        taken.append(box)
        # The figure has 72 dpi: an offset point is a pixel.
        axes.annotate(text, (x, y), xytext=(6 * side, dy - 2.5), textcoords="offset points", fontsize=7.5,
                      ha="left" if side > 0 else "right")


def draw_roofs(axes, peak, rates):
    """The peak, and for each {name: GB/s} the slope that it bounds. Returns points along the lines."""
    low, high = axes.get_xlim()
    axes.plot([low, high], [peak, peak], color=GREY, linewidth=1, zorder=1)
    axes.annotate(f"multiply-add peak of one thread, {peak:.0f} GFLOP/s", (high, peak), xytext=(0, 5),
                  textcoords="offset points", ha="right", fontsize=8)
    along = []
    for text, rate in rates.items():
        axes.plot([low, peak / rate], [low * rate, peak], color=GREY, linewidth=1, zorder=1)
        foot = max(low, axes.get_ylim()[0] / rate) * 1.15
        (x0, y0), (x1, y1) = axes.transData.transform([(foot, foot * rate), (2 * foot, 2 * foot * rate)])
        axes.annotate(f"{text}, {rate:.0f} GB/s", (foot, foot * rate), xytext=(0, 6), textcoords="offset points",
                      rotation=math.degrees(math.atan2(y1 - y0, x1 - x0)), rotation_mode="anchor", fontsize=8)
        steps = (foot * (peak / rate / foot) ** (i / 150) for i in range(151))
        along += [(x, x * rate) for x in steps]
    return along


def plot_roofline(results, out):
    kernels = [case for family in ("softmax", "gemm", "attention", "head", "layers", "optimizer")
               for case in results.get(family, ({}, []))[1] if case.flops() > 0 and case.bytes() > 0]
    peak = max(float(context["peak GFLOP/s a thread"]) for context, _ in results.values())
    streams = {case.name: case.counters["GB/s"] for case in results["stream"][1]}
    rates = {text: max(rate for name, rate in streams.items() if name.endswith(size))
             for text, size in (("L2", "/32K"), ("memory", "/20M"))}
    points = [(case.flops() / case.bytes(), case.counters["GFLOP/s"]) for case in kernels]
    figure, axes = plt.subplots(figsize=(9.4, 6.4), dpi=72)
    log_axes(axes, [2.0 ** i for i in range(-4, 14, 2)], "arithmetic intensity (FLOP a byte that has to move)",
             "GFLOP/s", "")
    axes.set_xlim(min(x for x, _ in points) / 1.6, max(x for x, _ in points) * 1.6)
    axes.set_ylim(min(y for _, y in points) / 1.5, peak * 1.6)
    labelled = {}
    for group in GROUPS:
        mine = [(case, point) for case, point in zip(kernels, points) if group_of(case.name) == group]
        _, text, color, marker = group
        axes.scatter([x for _, (x, _) in mine], [y for _, (_, y) in mine], color=color, marker=marker, s=18,
                     label=text, zorder=2)
        for case, point in mine:  # a kernel's name stands beside its largest case
            kernel = case.name.split("/")[0]
            if kernel not in labelled or case.flops() > labelled[kernel][0]:
                labelled[kernel] = (case.flops(), (*point, kernel))
    axes.legend(loc="lower right", frameon=False, fontsize=8, labelcolor=GREY)
    figure.tight_layout()
    along = draw_roofs(axes, peak, rates)
    place_labels(axes, [label for _, label in labelled.values()], points + along)
    save(figure, out / "roofline.svg")


PLOTS = [(plot_attention_growth, ["attention_growth"]), (plot_train_growth, ["train_growth"]),
         (plot_roofline, ["gemm", "stream"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="DIR", type=pathlib.Path)
    parser.add_argument("out", metavar="OUT", type=pathlib.Path)
    arguments = parser.parse_args()
    results = read_results(arguments.folder)
    arguments.out.mkdir(parents=True, exist_ok=True)
    with plt.rc_context(STYLE):
        for plot, families in PLOTS:
            missing = [family for family in families if family not in results]
            if missing:
                print(f"(no {plot.__name__[5:]}.svg: not measured: {', '.join(missing)})")
            else:
                plot(results, arguments.out)


if __name__ == "__main__":
    main()
