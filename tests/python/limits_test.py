"""What must not grow with the size of the scores, and what must not change with the size of the batch."""

import json
import os
import tempfile
import unittest
from pathlib import Path

import numpy as np

from mha import MHA, environment, run

SANITIZED = "ASAN_OPTIONS" in os.environ or "asan" in str(MHA)  # whose own memory is large


def problem(folder, X, **more):
    """One head of width 1 that passes X on, with X in a file of its own."""
    np.save(folder / "X.npy", X)
    one = [[1]]
    text = {"X": {"file": "X.npy"}, "heads": [{"W_Q": one, "W_K": one, "W_V": one}], "W_O": "identity"} | more
    (folder / "p.json").write_text(json.dumps(text), encoding="utf-8")
    return folder / "p.json"


def peak_mb(*arguments, code=0):
    """The largest resident memory of a run of mha that ends with this code."""
    child = os.posix_spawn(MHA, [MHA, *map(str, arguments)], environment(),
                           file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(child, 0)
    assert os.waitstatus_to_exitcode(status) == code, status
    return usage.ru_maxrss / 1024


class Limits(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_what_passes_the_numbers_there_are_is_told_where_it_begins(self):
        wide = [[1e200], [0]]
        text = {"X": [[1e200, 1], [1, 1]], "W_O": "identity", "mask": "causal",
                "heads": [{"W_Q": [[1], [1]], "W_K": [[1], [1]], "W_V": [[1], [1]]}, {"W_Q": wide, "W_K": [[1], [1]], "W_V": wide}]}
        path = self.folder / "p.json"
        path.write_text(json.dumps(text), encoding="utf-8")
        for options, words in (((), "Queries Q⁽²⁾: numbers pass what f64 can hold and are infinite or NaN"),
                               (("--index-base", "0"), "Queries Q⁽¹⁾: "), (("--lang", "zh"), "Q⁽²⁾：数超出了 f64 的范围"),
                               (("-q",), "")):
            result = run("run", path, "-o", os.devnull, *options)
            self.assertEqual((result.returncode, len(result.stderr.splitlines())), (0, 1 if words else 0), options)
            self.assertIn(words, result.stderr.decode())
        flat = {"X": [[1, 1], [2, 0]], "heads": [{"W_Q": [[1], [0]], "W_K": [[1], [0]], "W_V": [[0], [1]]}], "W_O": [[1, 1]],
                "norm": {"kind": "layer", "eps": 0}}
        path_of_flat = self.folder / "flat.json"
        path_of_flat.write_text(json.dumps(flat), encoding="utf-8")
        self.assertIn("since eps is 0", run("run", path_of_flat, "-o", os.devnull).stderr.decode())
        again = self.folder / "again.json"
        again.write_text(json.dumps(text | {"title": "again"}), encoding="utf-8")
        answer = self.folder / "answer.json"
        answer.write_text('{"Q1": [[1e200], [2]]}', encoding="utf-8")
        for command in (["explain", path, "Q2[1,1]"], ["decode", path], ["inspect", path], ["inspect", path, again],
                        ["compare", path, "--mistake", "no_scale"], ["compare", path, again], ["mistakes", path],
                        ["gradient", path, "--loss", "sum", "--with-forward"], ["check", path, answer]):
            told = [line for line in run(*command).stderr.decode().splitlines() if "numbers pass what f64 can hold" in line]
            self.assertEqual(len(told), command.count(path) + command.count(again), (command, told))
            self.assertIn("Masked scores M⁽¹⁾" if command[0] == "inspect" else "Queries Q⁽²⁾", told[0])  # of what is kept
        for fine in ("causal", "worked", "padding"):  # −∞ is in its place there
            self.assertEqual(run("run", fine, "-o", os.devnull).stderr, b"")

    @unittest.skipIf(SANITIZED, "the sanitizers keep memory of their own")
    def test_a_mask_that_follows_from_a_rule_takes_no_room(self):
        n = 8000
        X = np.random.default_rng(1).standard_normal((n, 1))
        masks = ["causal", {"window": {"left": 9, "right": 0}}, {"padding": [1] * (n - 1) + [0]}, "alibi", ["causal", "alibi"]]
        for mask in masks:
            with self.subTest(mask=str(mask)[:40]):
                file = problem(self.folder, X, mask=mask)
                self.assertLess(peak_mb("run", file, "--steps", "output", "-o", self.folder / "y.npy"), 40)

    def large(self, layers=0):
        """n 1000, d_model 256, 8 heads: one causal attention, or a stack of such with norms and residual sums."""
        rng, d, names = np.random.default_rng(1), 256, ("W_Q", "W_K", "W_V", "W_O")

        def attention(layer):
            for name in names:
                np.save(self.folder / f"{name}{layer}.npy", rng.standard_normal((d, d)) / 16)
            return {name: {"file": f"{name}{layer}.npy"} for name in names} | {"num_heads": 8, "mask": "causal"}

        np.save(self.folder / "X.npy", rng.standard_normal((1000, d)))
        block = {"norm": {"kind": "rms"}, "residual": True}
        text = {"layers": [attention(layer) | block for layer in range(layers)]} if layers else attention(0)
        path = self.folder / "p.json"
        path.write_text(json.dumps(text | {"X": {"file": "X.npy"}}), encoding="utf-8")
        return path

    @unittest.skipIf(SANITIZED, "the sanitizers keep memory of their own")
    def test_the_backward_pass_holds_the_weights_and_no_other_matrix_of_the_size_of_the_scores(self):
        rng, n, d, heads = np.random.default_rng(2), 1500, 64, 8
        for name, rows in (("X", n), ("W_Q", d), ("W_K", d), ("W_V", d), ("W_O", d)):
            np.save(self.folder / f"{name}.npy", (rng.standard_normal((rows, d)) / 8).astype(np.float32))
        text = {name: {"file": f"{name}.npy"} for name in ("X", "W_Q", "W_K", "W_V", "W_O")} | {"num_heads": heads, "mask": "causal"}
        (self.folder / "p.json").write_text(json.dumps(text), encoding="utf-8")
        arguments = ("gradient", self.folder / "p.json", "--dtype", "f32", "--loss", "sum", "--steps", "parameters")
        weights_mb = heads * n * n * 4 / 2**20
        for more in ((), ("--descend", "0.1")):
            self.assertLess(peak_mb(*arguments, *more), 1.5 * weights_mb, more)

    @unittest.skipIf(SANITIZED, "the sanitizers keep memory of their own")
    def test_a_large_right_answer_takes_the_room_of_a_run(self):
        for layers, step in ((0, "output"), (2, "residual")):
            problem, answer = self.large(layers), self.folder / ("Y.npz" if layers else "Y.npy")
            for dtype in ("f64", "f32"):
                with self.subTest(layers=layers, dtype=dtype):
                    computed = peak_mb("run", problem, "--dtype", dtype, "--steps", step, "-o", answer)
                    self.assertLess(peak_mb("check", problem, answer), 1.5 * computed)

    @unittest.skipIf(SANITIZED, "the sanitizers keep memory of their own")
    def test_a_large_wrong_answer_is_judged_within_bounds(self):
        problem, answer = self.large(), self.folder / "Y.npy"
        self.assertEqual(run("run", problem, "--steps", "output", "-o", answer).returncode, 0)
        np.save(answer, np.load(answer) * 1.01)
        before = os.times()
        self.assertLess(peak_mb("check", problem, answer, code=1), 1000)
        after = os.times()
        used = after.children_user - before.children_user + after.children_system - before.children_system
        self.assertLess(used, 60)  # seconds of all processors
        page = run("check", problem, answer).stdout.decode()
        self.assertIn("the rarer mistakes were not all tried", " ".join(page.split()))

    def test_an_item_has_the_same_bits_alone_and_in_its_batch(self):
        random = np.random.default_rng(2)
        for n in (4, 48, 200):  # of a single item: small, nearly and no longer
            X = random.standard_normal((3, n, 16))
            np.save(self.folder / "X.npy", X)
            W = random.standard_normal((16, 16)).tolist()
            text = {"X": {"file": "X.npy"}, "num_heads": 2, "W_Q": W, "W_K": W, "W_V": W, "W_O": W, "mask": "causal"}
            (self.folder / "p.json").write_text(json.dumps(text), encoding="utf-8")
            whole, alone = self.folder / "whole.npy", self.folder / "alone.npy"
            self.assertEqual(run("run", self.folder / "p.json", "--steps", "output", "-o", whole).returncode, 0)
            self.assertEqual(
                run("run", self.folder / "p.json", "--batch", "2", "--steps", "output", "-o", alone).returncode, 0)
            self.assertEqual(np.load(whole)[1].tobytes(), np.load(alone).tobytes(), f"n = {n}")

    def test_a_softcap_that_float_cannot_hold_is_refused(self):
        for cap in ("1e300", "1e-60"):
            file = problem(self.folder, np.ones((2, 1)), softcap=float(cap))
            self.assertEqual(run("run", file).returncode, 0)
            refused = run("run", file, "--dtype", "f32")
            self.assertEqual(refused.returncode, 2)
            self.assertIn(b"softcap", refused.stderr)
            self.assertIn(b"--dtype f64", refused.stderr)


if __name__ == "__main__":
    unittest.main()
