#!/usr/bin/env python3
"""What tools/bench_results.py, tools/plot_bench.py and tools/soak_report.py make of small invented runs."""
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TREE / "tools"))
import bench_results  # noqa: E402

CONTEXT = {"cpu": "Test CPU", "num_cpus": 2, "isa": "avx2", "compiler": "GCC 1.2.3", "causeway": "0.1.0",
           "date": "2026-01-02T03:04:05+00:00", "threads": "1", "peak GFLOP/s a thread": "100.0",
           "caches": [{"type": "Data", "level": 1, "size": 49152}, {"type": "Instruction", "level": 1, "size": 32768},
                      {"type": "Unified", "level": 2, "size": 1048576}]}


def rows(index, name, times_us, **counters):
    """The repetitions of one case as Google Benchmark writes them, and one of its aggregates."""
    found = [{"name": f"{name}/real_time", "family_index": index, "run_type": "iteration", "real_time": time,
              "time_unit": "us", **counters} for time in times_us]
    return found + [dict(found[0], name=f"{name}/real_time_mean", run_type="aggregate")]


def write(folder, family, benchmarks):
    (folder / f"{family}.json").write_text(json.dumps({"context": CONTEXT, "benchmarks": benchmarks}))


def write_run(folder):
    write(folder, "softmax", rows(0, "softmax/f32/2x3", [4.0, 2.0, 3.0], **{"GB/s": 5.0, "%stream": 40.0}))
    write(folder, "gemm", rows(1, "gemm_nt/f32/8x8x8", [1.0], **{"GFLOP/s": 90.0, "%peak": 90.0, "GB/s": 3.0})
          + rows(0, "gemm_tn/f32/8x8x8", [2000.0], **{"GFLOP/s": 80.0, "GB/s": 2.0}))
    write(folder, "stream", [row for i, (size, rate) in enumerate((("32K", 200.0), ("20M", 20.0)))
                             for row in rows(i, f"stream_read/f32/{size}", [1.0], **{"GB/s": rate})])
    kernels = ("attention_fwd", "attention_bwd", "attention_explicit_fwd")
    write(folder, "attention_growth", [row for i, kernel in enumerate(kernels) for t in (64, 128)
                                       for row in rows(2 * i, f"{kernel}/f32/B1H4T{t}D64", [t * t], MiB=t / 64)])
    sizes = [(128, 128, 4), (256, 128, 4), (128, 256, 4), (128, 128, 8)]
    write(folder, "train_growth", [row for i, (t, d, layers) in enumerate(sizes)
                                   for row in rows(i, f"train_growth/f32/T{t}D{d}L{layers}", [t * d * layers],
                                                   **{"GFLOP/s": 50.0})])


class Scripts(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        write_run(self.folder)

    def plot(self, out, *options):
        script = TREE / "tools" / "plot_bench.py"
        return subprocess.run([sys.executable, "-B", *options, script, self.folder, out], text=True,
                              capture_output=True, check=False)

    def test_tables(self):
        texts = bench_results.sections(bench_results.read_results(self.folder))
        self.assertIn("| `softmax/f32/2x3` | 2 µs | 3 µs | 5 | 40 |", texts["softmax"])
        self.assertIn("1 thread, peak 100.0 GFLOP/s a thread", texts["softmax"])
        self.assertIn("L1d 48 KiB, L2 1024 KiB", texts["machine"])
        # In the order of the program, whatever the order of the rounds; a counter that a case lacks stays empty.
        self.assertLess(texts["gemm"].index("gemm_tn"), texts["gemm"].index("gemm_nt"))
        self.assertIn("| `gemm_tn/f32/8x8x8` | 2 ms | 2 ms | 80 |  | 2 |", texts["gemm"])

    def test_only_measured_sections_are_replaced(self):
        page = "a\n<!-- results: softmax -->\nold\n<!-- end -->\n<!-- results: train -->\nkept\n<!-- end -->\nb\n"
        new = bench_results.replace_sections(page, {"softmax": "new"})
        self.assertEqual(new, "a\n<!-- results: softmax -->\n\nnew\n\n<!-- end -->\n<!-- results: train -->\nkept\n"
                              "<!-- end -->\nb\n")
        self.assertEqual(bench_results.replace_sections(new, {"softmax": "new"}), new)

    def test_the_page_has_a_section_for_every_family(self):
        page = (TREE / "docs" / "performance.md").read_text(encoding="utf-8")
        found = re.findall(r"<!-- results: (\w+) -->", page)
        self.assertEqual(sorted(found), sorted(["machine", *bench_results.FAMILIES]))

    def test_the_script_knows_the_same_families(self):
        script = (TREE / "tools" / "bench.sh").read_text(encoding="utf-8")
        families = re.search(r"^families=\((.*)\)$", script, flags=re.MULTILINE).group(1)
        self.assertEqual(families.split(), bench_results.FAMILIES)

    def tables(self, folder, *options):
        script = TREE / "tools" / "bench_results.py"
        return subprocess.run([sys.executable, "-B", script, folder, *options], text=True, capture_output=True,
                              check=False)

    def check_refused(self, run, *texts):
        self.assertEqual(run.returncode, 1)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        for text in ("bench_results.py: ", *texts):
            self.assertIn(text, run.stderr)

    def test_no_results(self):
        with tempfile.TemporaryDirectory() as empty:
            self.check_refused(self.tables(empty), f"no results in {empty}")

    def test_a_file_that_is_no_result_is_named(self):
        file = self.folder / "gemm.json"
        for text, said in (("{\"context\": ", "cannot be read as JSON"), ("", "cannot be read as JSON"),
                           ("[]", "is no output of causeway_bench"), ("{}", "is no output of causeway_bench")):
            file.write_text(text)
            self.check_refused(self.tables(self.folder), f"{file}: {said}")

    def test_a_page_without_sections_is_refused_as_it_is(self):
        page = self.folder / "page.md"
        text = "<!-- results: softmax -->\nold\n<!-- end -->\n"
        page.write_text(text)
        self.check_refused(self.tables(self.folder, "--into", page), f"{page}: has no section for machine, gemm, ")
        self.assertEqual(page.read_text(), text)
        self.check_refused(self.tables(self.folder, "--into", self.folder / "none.md"), "none.md")

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "no matplotlib")
    def test_plots_repeat_byte_for_byte(self):
        outs = [self.folder / "one", self.folder / "two"]
        for out in outs:
            run = self.plot(out)
            self.assertEqual(run.returncode, 0, run.stderr)
        for name in ("attention_growth.svg", "train_growth.svg", "roofline.svg"):
            texts = [(out / name).read_text(encoding="utf-8") for out in outs]
            self.assertEqual(texts[0], texts[1])
            self.assertIn("</svg>", texts[0])
        self.assertIn("GFLOP/s", texts[0])

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "no matplotlib")
    def test_what_was_not_measured_is_not_plotted(self):
        (self.folder / "stream.json").unlink()
        run = self.plot(self.folder / "out")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("(no roofline.svg: not measured: stream)", run.stdout)
        self.assertFalse((self.folder / "out" / "roofline.svg").exists())

    def test_missing_matplotlib_is_said(self):
        # -S leaves the installed packages out.
        run = self.plot(self.folder / "out", "-S")
        if run.returncode == 0:
            self.skipTest("matplotlib is part of this python")
        self.assertEqual(run.returncode, 3)
        self.assertIn("python3-matplotlib", run.stderr)


class Soak(unittest.TestCase):
    def report(self, rss, steps_ms):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "run").mkdir()
            (folder / "rss.txt").write_text("".join(f"{i} {kib}\n" for i, kib in enumerate(rss)))
            (folder / "run" / "metrics.jsonl").write_text("".join(
                json.dumps({"step": i + 1, "elapsed_s": i, "tokens_per_second": 1e3 / ms}) + "\n"
                for i, ms in enumerate(steps_ms)))
            script = TREE / "tools" / "soak_report.py"
            result = subprocess.run([sys.executable, "-B", script, folder], text=True, capture_output=True, check=False)
            if result.returncode == 0:
                self.assertIn("<polyline", (folder / "soak.svg").read_text())
            return result

    def test_flat_run_passes(self):
        result = self.report([50000 + i % 3 for i in range(100)], [5 + i % 5 for i in range(100)])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("+0 KiB from there on", result.stdout)
        self.assertIn("first: +0.0%", result.stdout)

    def test_growing_memory_fails(self):
        result = self.report([50000 + 100 * i for i in range(100)], [5] * 100)
        self.assertEqual(result.returncode, 1)
        self.assertIn("+9000 KiB from there on (at most 4096)", result.stdout)

    def test_slower_steps_fail(self):
        result = self.report([50000] * 100, [5 + i / 50 for i in range(100)])
        self.assertEqual(result.returncode, 1)
        self.assertIn("FAILED", result.stdout)

    def test_too_short(self):
        result = self.report([50000] * 3, [5] * 100)
        self.assertEqual(result.returncode, 1)
        self.assertIn("3 looks at memory and 100 steps, expected at least 10 and 40", result.stderr)


if __name__ == "__main__":
    unittest.main()
