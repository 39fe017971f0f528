"""mha bench and --threads on the real binary: what is printed, what is refused, and that threads change no byte."""

import json
import random
import tempfile
import unittest
from pathlib import Path

from mha import SOURCE, run


def problem(tokens, d_model, heads):
    """Large enough that threads are started."""
    numbers = random.Random(7)

    def matrix(rows, cols):
        return [[round(numbers.uniform(-1, 1), 3) for _ in range(cols)] for _ in range(rows)]

    weights = {name: matrix(d_model, d_model) for name in ("W_Q", "W_K", "W_V", "W_O")}
    return {"X": matrix(tokens, d_model), "num_heads": heads, "b_O": [0.5] * d_model, "mask": "causal", **weights}


class Threads(unittest.TestCase):
    def test_no_byte_depends_on_their_number(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "problem.json"
            file.write_text(json.dumps(problem(160, 64, 4)), encoding="utf-8")
            for dtype in ("f64", "f32"):
                for steps in ([], ["--steps", "output"]):
                    arguments = ["run", file, "--dtype", dtype, "--format", "json", *steps]
                    one = run(*arguments, "--threads", "1")
                    self.assertEqual((one.returncode, one.stderr), (0, b""))
                    for threads in (["--threads", "2"], ["--threads", "3"], ["--threads", "7"], []):
                        self.assertEqual(run(*arguments, *threads).stdout, one.stdout, (dtype, steps, threads))

    def test_a_number_is_asked_for(self):
        for number in ("0", "-1", "two", "1e3", "1025"):
            result = run("run", f"--threads={number}")
            self.assertEqual(result.returncode, 2)
            self.assertIn(b"--threads", result.stderr)


class Bench(unittest.TestCase):
    def times(self, *arguments):
        result = run("bench", "--format", "json", "--repeat", "3", *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return json.loads(result.stdout)

    def test_a_view_has_no_rate_and_no_step_is_faster_than_the_machine(self):
        steps = {step["step"]: step for step in self.times("--tokens", "300", "--d-model", "64", "--heads", "4")["steps"]}
        for name in ("Q", "K", "V", "concat"):  # heads side by side: cut out of packed.Q …, written next to each other
            self.assertEqual((steps[name]["gflops"], steps[name]["gbytes_per_s"]), (0, 0))
        self.assertGreater(steps["packed.Q"]["gflops"], 0)
        page = run("bench", "--tokens", "300", "--d-model", "64", "--heads", "4", "--repeat", "3").stdout.decode()
        rates = [line.split()[-2:] for line in page.splitlines() if len(line.split()) == 5 and line[0] != " "]
        machine = next(line for line in page.splitlines() if line.startswith("this machine")).split()[-2:]
        for column in (0, 1):
            self.assertGreaterEqual(float(machine[column]) + 0.1, max(float(row[column]) for row in rates if row[0] != "ms"))

    def test_json_has_the_keys_of_the_contract(self):
        times = self.times("packed", "--dtype", "f32", "--threads", "1")
        self.assertEqual(list(times), ["device", "dtype", "threads", "repeat", "total_ms", "steps"])
        self.assertEqual([times[key] for key in ("device", "dtype", "threads", "repeat")], ["cpu", "f32", 1, 3])
        self.assertEqual(list(times["total_ms"]), ["median", "min"])
        self.assertLessEqual(times["total_ms"]["min"], times["total_ms"]["median"])
        for step in times["steps"]:
            self.assertEqual(list(step), ["step", "ms", "gflops", "gbytes_per_s"])
        self.assertEqual([step["step"] for step in times["steps"]],
                         ["packed.Q", "packed.K", "packed.V", "Q", "K", "V", "scores", "scaled", "weights", "head_output",
                          "concat", "output"])

    def test_what_computes_has_rates(self):
        for keep in ("all", "output"):
            times = self.times("--tokens", "200", "--d-model", "96", "--heads", "3", "--keep", keep)
            product = next(step for step in times["steps"] if step["step"] == "packed.Q")
            self.assertGreater(product["gflops"], 0)
            self.assertGreater(product["gbytes_per_s"], 0)

    def test_the_page_has_every_step_and_what_the_machine_reaches(self):
        page = run("bench", "worked", "--repeat", "2").stdout.decode()
        for name in ("3 tokens", "kernels plain", "scores", "output", "median ms", "least ms", "GFLOP/s", "GB/s", "this machine"):
            self.assertIn(name, page)

    def test_heads_are_timed_one_by_one_as_well(self):
        for problem in (["grouped"], ["worked_twice"], ["block"], ["stack"], ["rotary"], ["--tokens", "64", "--d-model", "96", "--heads", "3"]):
            times = self.times(*problem, "--loop")
            self.assertEqual(sorted(times["heads_ms"]), ["at_once", "loop"])
            self.assertGreater(min(times["heads_ms"].values()), 0)
            self.assertLess(times["heads_ms"]["at_once"], 20 * sum(step["ms"] for step in times["steps"]))
            self.assertNotIn("heads_ms", self.times(*problem))
        many = self.times("--tokens", "4", "--d-model", "128", "--heads", "64", "--loop", "--threads", "1")["heads_ms"]
        self.assertLess(many["at_once"], many["loop"])  # each step is started 64 times
        self.assertIn("head by head", " ".join(run("bench", "worked", "--loop", "--repeat", "2").stdout.decode().split()))

    def test_what_cannot_be_measured_is_refused(self):
        for arguments, words in ((["--device", "tpu"], b"--device"), (["--repeat", "0"], b"--repeat"), (["--keep", "none"], b"--keep"),
                                 (["--d-model", "7", "--heads", "2"], b"multiple"), (["worked", "--tokens", "4"], b"--tokens"),
                                 (["worked", "packed"], b"one problem"), ([SOURCE / "no.json"], b"no.json")):
            result = run("bench", *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, b""), arguments)
            self.assertIn(words, result.stderr)


if __name__ == "__main__":
    unittest.main()
