#!/usr/bin/env python3
"""Turns what causeway_bench measured into Markdown tables.

usage: tools/bench_results.py DIR [--into FILE]

DIR holds one JSON file a family (DIR/softmax.json), as tools/bench.sh writes them. Prints all tables; with --into, the
sections of FILE between `<!-- results: FAMILY -->` and `<!-- end -->` are replaced instead, those of families that DIR
has no file of are left as they are. A family of DIR that FILE has no section for is an error, and FILE stays as it is.

example: tools/bench_results.py build/bench --into docs/performance.md
"""
import argparse
import json
import pathlib
import re
import statistics
import sys

# In the order of the page.
FAMILIES = ["softmax", "gemm", "gemm_odd", "attention", "head", "layers", "optimizer", "stream", "tokenize", "train", "decode",
            "attention_growth", "train_growth"]
NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
COLUMNS = [("GFLOP/s", "GFLOP/s"), ("%peak", "% of peak"), ("GB/s", "GB/s"), ("%stream", "% of stream"),
           ("tokens/s", "tokens/s"), ("MiB", "MiB")]


class Case:
    """All repetitions of one case; counters are those of its best one."""

    def __init__(self, name, repetitions):
        times = [r["real_time"] * NANOSECONDS[r["time_unit"]] for r in repetitions]
        best = min(range(len(times)), key=times.__getitem__)
        self.name = name
        self.best_ns = times[best]
        self.median_ns = statistics.median(times)
        self.counters = {key: repetitions[best][key] for key, _ in COLUMNS if key in repetitions[best]}

    def flops(self):
        return self.counters.get("GFLOP/s", 0) * self.best_ns

    def bytes(self):
        return self.counters.get("GB/s", 0) * self.best_ns


class ResultsError(Exception):
    """What is to be read cannot be; the message names the file."""


def read_family(path):
    """(context, cases in the order of the program) of one file of Google Benchmark."""
    try:
        return parse_family(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise ResultsError(f"{path}: cannot be read as JSON: {error}") from error
    except (AttributeError, KeyError, TypeError) as error:
        raise ResultsError(f"{path}: is no output of causeway_bench: {type(error).__name__}: {error}") from error


def parse_family(data):
    repetitions = {}
    for row in data["benchmarks"]:
        if row.get("run_type") == "iteration":
            repetitions.setdefault(row["name"].removesuffix("/real_time"), []).append(row)
    # Random interleaving shuffles the rows; the index of the family does not change.
    order = {row["name"].removesuffix("/real_time"): row["family_index"] for row in data["benchmarks"]}
    return data["context"], [Case(name, repetitions[name]) for name in sorted(repetitions, key=order.__getitem__)]


def read_results(folder):
    """{family: (context, cases)} of the files that are there."""
    files = {family: folder / f"{family}.json" for family in FAMILIES}
    return {family: read_family(path) for family, path in files.items() if path.is_file()}


def time_text(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns < 1000 * size else f"{ns / size:.0f} {unit}"
    return f"{ns:.3g} ns"


def number_text(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def table(rows):
    """A Markdown table of rows of text, the first its head; all columns but the first are numbers."""
    head, *body = rows
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def thread_note(context):
    return f"{context['threads']} thread{'s' * (context['threads'] != '1')}, peak {context['peak GFLOP/s a thread']} " \
           f"GFLOP/s a thread"


def family_table(context, cases):
    columns = [(key, title) for key, title in COLUMNS if any(key in case.counters for case in cases)]
    rows = [["case", "best", "median"] + [title for _, title in columns]]
    for case in cases:
        cells = [number_text(case.counters[key]) if key in case.counters else "" for key, _ in columns]
        rows.append([f"`{case.name}`", time_text(case.best_ns), time_text(case.median_ns)] + cells)
    return f"{table(rows)}\n\n{thread_note(context)}"


def odd_table(context, cases):
    """How long products of odd sizes take beside the same padded to whole tiles: one line a form."""
    best = {case.name: case.best_ns for case in cases}
    rows = [["form", "sizes", "median of the ratios", "largest", "of"]]
    for form in ("nt", "nn", "tn"):
        start = f"gemm_odd_{form}/"
        ratios = {name: ns / best[name.replace("/", "_padded/", 1)] for name, ns in best.items() if name.startswith(start)}
        worst = max(ratios, key=ratios.get)
        rows.append([f"`gemm_odd_{form}`", str(len(ratios)), f"{statistics.median(ratios.values()):.2f}",
                     f"{ratios[worst]:.2f}", worst.rsplit("/", 1)[1]])
    return f"{table(rows)}\n\n{thread_note(context)}"


def cache_text(context):
    names = {"Data1": "L1d", "Unified2": "L2", "Unified3": "L3"}
    caches = ((names.get(f"{c['type']}{c['level']}"), c["size"]) for c in context.get("caches", []))
    return ", ".join(f"{name} {size // 1024} KiB" for name, size in caches if name)


def machine_table(results):
    context = next(iter(results.values()))[0]
    peaks = [float(c["peak GFLOP/s a thread"]) for c, _ in results.values()]
    rows = [["", ""],
            ["CPU", f"{context['cpu']}, {context['num_cpus']} virtual cores, {cache_text(context)}"],
            ["instruction set", context["isa"]],
            ["compiler", context["compiler"]],
            ["Causeway", context["causeway"]],
            ["multiply-add peak of a thread, by run", f"{min(peaks):.0f} to {max(peaks):.0f} GFLOP/s"],
            ["date", context["date"][:10]]]
    return table(rows).replace("| --- | ---: |", "| --- | --- |")


def sections(results):
    texts = {"machine": machine_table(results)}
    texts.update({family: (odd_table if family == "gemm_odd" else family_table)(context, cases)
                  for family, (context, cases) in results.items()})
    return texts


SECTION = re.compile(r"<!-- results: (\w+) -->.*?<!-- end -->", flags=re.DOTALL)


def missing_sections(page, texts):
    found = {match.group(1) for match in SECTION.finditer(page)}
    return [name for name in texts if name not in found]


def replace_sections(page, texts):
    def replaced(match):
        text = texts.get(match.group(1))
        return match.group(0) if text is None else f"<!-- results: {match.group(1)} -->\n\n{text}\n\n<!-- end -->"
    return SECTION.sub(replaced, page)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="DIR", type=pathlib.Path)
    parser.add_argument("--into", metavar="FILE", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        write_results(arguments.folder, arguments.into)
    except (ResultsError, OSError) as error:
        sys.exit(f"bench_results.py: {error}")


def write_results(folder, into):
    results = read_results(folder)
    if not results:
        raise ResultsError(f"no results in {folder}: expected files such as softmax.json")
    texts = sections(results)
    if not into:
        print("\n\n".join(f"## {name}\n\n{text}" for name, text in texts.items()))
        return
    page = into.read_text(encoding="utf-8")
    missing = missing_sections(page, texts)
    if missing:
        raise ResultsError(f"{into}: has no section for {', '.join(missing)}: expected "
                           f"`<!-- results: {missing[0]} -->` ... `<!-- end -->`")
    into.write_text(replace_sections(page, texts), encoding="utf-8")


if __name__ == "__main__":
    main()
