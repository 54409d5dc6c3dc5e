#!/usr/bin/env python3
"""What tools/soak.sh measured, as text and picture: resident memory and the time of a step over the run.

usage: tools/soak_report.py [--rss-kib N] [--drift PERCENT] DIR
Reads DIR/rss.txt ("seconds KiB" a line) and DIR/run/metrics.jsonl; writes DIR/soak.txt and DIR/soak.svg. Exit code 1
when memory grew by more than N KiB after the first tenth of the run, or the median step of the last quarter took
PERCENT longer than that of the first.
"""
import argparse
import json
import pathlib
import statistics
import sys

WIDTH, HEIGHT, LEFT, TOP, GAP = 760, 150, 90, 34, 62


def read_steps(path):
    """(elapsed seconds, milliseconds) of every step."""
    steps = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            steps.append((entry["elapsed_s"], 1e3 / entry["tokens_per_second"]))
    return steps


def binned(points, bins=240):
    """The median of the values in each of so many equal parts of the time: (time, value)."""
    end = points[-1][0] or 1
    parts = {}
    for x, y in points:
        parts.setdefault(min(int(x / end * bins), bins - 1), []).append(y)
    return [((part + 0.5) * end / bins, statistics.median(values)) for part, values in sorted(parts.items())]


def panel(points, top, title, unit):
    """One curve with its axes, from 0 up."""
    end, high = points[-1][0] or 1, max(y for _, y in points) * 1.15
    place = [(LEFT + x / end * WIDTH, top + HEIGHT - y / high * HEIGHT) for x, y in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in place)
    parts = [f'<text x="{LEFT}" y="{top - 10}" font-weight="bold">{title}</text>']
    for share in (0, 0.5, 1):
        y = top + HEIGHT * (1 - share)
        parts.append(f'<line x1="{LEFT}" y1="{y}" x2="{LEFT + WIDTH}" y2="{y}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{high * share:.3g} {unit}</text>')
        x = LEFT + WIDTH * share
        parts.append(f'<text x="{x}" y="{top + HEIGHT + 18}" text-anchor="middle">{end * share:.0f} s</text>')
    parts.append(f'<polyline points="{line}" fill="none" stroke="#0072b2" stroke-width="1.6"/>')
    return "\n".join(parts)


def svg(memory, steps):
    height = 2 * (HEIGHT + GAP) + 10
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 30}" height="{height}" '
            'font-family="sans-serif" font-size="12" fill="#333">\n'
            f'<rect width="100%" height="100%" fill="white"/>\n'
            + panel(memory, TOP, "resident memory", "MiB") + "\n"
            + panel(steps, TOP + HEIGHT + GAP, "time of a step, relative to the median", "") + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="DIR", type=pathlib.Path)
    parser.add_argument("--rss-kib", type=float, default=4096)
    parser.add_argument("--drift", type=float, default=10)
    arguments = parser.parse_args()
    memory = [tuple(map(float, line.split())) for line in (arguments.folder / "rss.txt").read_text().splitlines()]
    steps = read_steps(arguments.folder / "run" / "metrics.jsonl")
    if len(memory) < 10 or len(steps) < 40:
        sys.exit(f"{arguments.folder}: {len(memory)} looks at memory and {len(steps)} steps, expected at least 10 and 40")

    warm = max(rss for _, rss in memory[: max(1, len(memory) // 10)])
    grown = max(rss for _, rss in memory) - warm
    quarter = len(steps) // 4
    first, last = (statistics.median(ms for _, ms in part) for part in (steps[:quarter], steps[-quarter:]))
    drift = 100 * (last / first - 1)
    passed = grown <= arguments.rss_kib and drift <= arguments.drift
    text = (f"{len(steps)} steps in {steps[-1][0]:.0f} s of training, memory looked at {len(memory)} times\n"
            f"resident memory: {warm / 1024:.1f} MiB after the first tenth, {grown:+.0f} KiB from there on "
            f"(at most {arguments.rss_kib:.0f})\n"
            f"median step, last quarter against first: {drift:+.1f}% (at most {arguments.drift:.0f})\n"
            f"{'passed' if passed else 'FAILED'}\n")
    (arguments.folder / "soak.txt").write_text(text, encoding="utf-8")
    middle = statistics.median(ms for _, ms in steps)
    picture = svg([(s, rss / 1024) for s, rss in memory], binned([(s, ms / middle) for s, ms in steps]))
    (arguments.folder / "soak.svg").write_text(picture, encoding="utf-8")
    print(text, end="")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
