# mha compare and mha mistakes on the real binary.
import json
import re
import tempfile
import unittest
from pathlib import Path

import numpy as np

from mha import SOURCE, run
from numpy_attention import Attention, DoesNotFit, not_split
from random_problems import FEATURES, problems

PER_HEAD = {"X": [[1, 0], [0, 1]], "W_O": "identity", "heads": [
    {"W_Q": [[1, 2], [3, 4]], "W_K": [[1, 0], [0, 1]], "W_V": [[1, 0], [0, 1]]},
    {"W_Q": [[5, 6], [7, 8]], "W_K": [[2, 0], [0, 2]], "W_V": [[0, 1], [1, 0]]}]}
PACKED = {"X": [[1, 0], [0, 1]], "W_O": "identity", "num_heads": 2, "W_Q": [[1, 2, 5, 6], [3, 4, 7, 8]],
          "W_K": [[1, 0, 2, 0], [0, 1, 0, 2]], "W_V": [[1, 0, 0, 1], [0, 1, 1, 0]]}


def page(*arguments):
    result = run(*arguments)
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout.decode()


class Compare(unittest.TestCase):
    def test_the_first_difference_of_a_mistake_is_marked_once(self):
        for mistake, title in (("no_scale", "Scaled scores"), ("softmax_columns", "Weights"), ("wo_missing", "Output projection")):
            text = page("compare", "worked", "--mistake", mistake)
            self.assertEqual(text.count("← the first difference"), 1, mistake)
            marked = next(line for line in text.splitlines() if "←" in line)
            self.assertIn(title, marked)

    def test_a_mistake_that_this_problem_hides_is_equal(self):
        text = page("compare", "worked", "--mistake", "swap_qk")
        self.assertIn("All steps that both sides have are equal.", text)
        self.assertIn("This problem cannot show this mistake", text)
        named = re.search(r"`mha (compare \w+ --mistake swap_qk)` shows it", " ".join(text.split()))
        self.assertIn("← the first difference", page(*named[1].split()))

    def test_every_mistake_can_be_seen_somewhere(self):
        ids = re.findall(r"^([a-z]+_\w+|dropout)  ", page("mistakes"), re.MULTILINE)
        self.assertEqual(len(ids), len(set(ids)))
        self.assertGreater(len(ids), 110)
        for mistake in ids:
            shown = run("compare", "worked", "--mistake", mistake)
            if b"the first difference" in shown.stdout:
                continue
            said = " ".join((shown.stdout + shown.stderr).decode().split())
            if mistake.startswith("gradient_"):
                self.assertIn("a problem with a loss", said)
                continue
            named = re.search(rf"`mha (compare \w+ --mistake {mistake})` shows it", said)
            self.assertTrue(named, (mistake, said[-300:]))
            self.assertIn("← the first difference", page(*named[1].split()), mistake)

    def test_a_mistake_of_the_way_back(self):
        problem = SOURCE / "tests" / "cases" / "gradient_worked_target" / "problem.json"
        lines = page("compare", problem, "--mistake", "gradient_row_sum").splitlines()
        marked = next(line for line in lines if "← the first difference" in line)
        self.assertIn("Gradient of the scaled scores", marked)

    def test_json_holds_both_sides_of_what_differs(self):
        told = json.loads(page("compare", "worked", "--mistake", "no_scale", "--format", "json"))
        self.assertEqual([told["format"], told["version"], told["mistake"]], ["mha-compare", 1, "no_scale"])
        self.assertEqual(told["left"], "Worked 3×4 example")
        steps = {(step["step"], step.get("head")): step for step in told["steps"]}
        self.assertEqual(steps["scores", 1], {"step": "scores", "head": 1, "equal": True})
        scaled = steps["scaled", 1]
        row, column = scaled["row"] - 1, scaled["column"] - 1
        self.assertEqual(scaled["largest_difference"], scaled["right"][row][column] - scaled["left"][row][column])
        right = json.loads(page("run", "worked", "--format", "json"))
        self.assertEqual(scaled["left"], right["heads"][0]["scaled"])
        self.assertEqual(scaled["right"], right["heads"][0]["scores"])
        some = json.loads(page("compare", "packed", "worked", "--format", "json", "--steps", "packed,weights", "--heads", "2"))
        self.assertEqual([step["step"] for step in some["steps"]], ["packed.Q", "packed.K", "packed.V", "weights"])
        self.assertEqual(sorted(some["steps"][0]), ["equal", "left", "step"])

    def test_a_file_says_its_format(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, begins in (("c.json", "{"), ("c.txt", "Two computations")):
                page("compare", "worked", "--mistake", "no_scale", "-o", Path(folder, name))
                self.assertTrue(Path(folder, name).read_text(encoding="utf-8").startswith(begins))
        self.assertIn(b"--pause", run("compare", "worked", "--mistake", "no_scale", "--pause").stderr)

    def test_each_matrix_says_its_side_and_marks_what_differs(self):
        text = page("compare", "worked", "--mistake", "no_scale")
        self.assertIn("equal on both sides: X, Q⁽¹⁾, Q⁽²⁾, K⁽¹⁾, K⁽²⁾, V⁽¹⁾, V⁽²⁾, S⁽¹⁾, S⁽²⁾", text)
        self.assertRegex(text, r"left Z⁽¹⁾ +right Z⁽¹⁾")
        self.assertRegex(text, r"⎡ 0\.707\* +0\.000 +0\.707\* ⎤ +⎡ +1\* +0 +1\* ⎤")
        self.assertRegex(page("compare", "worked", "--mistake", "no_scale", "--lang", "zh"), r"左 Z⁽¹⁾ +右 Z⁽¹⁾")
        labelled = page("compare", "causal", "--mistake", "mask_ignored", "--steps", "weights")
        self.assertRegex(labelled, r"\n +The  +⎡")

    def test_a_difference_never_reads_0(self):
        with tempfile.TemporaryDirectory() as folder:
            left, right = Path(folder, "a.json"), Path(folder, "b.json")
            left.write_text(json.dumps(PER_HEAD | {"X": [[1, 0], [0, 0.5]]}))
            for by, told in ((1e-5, "largest difference 1e-05 at [2,2]: 0.5 and 0.50001"),
                             (3e-8, "largest difference 3e-08 at [2,2]: 0.5 and 0.50000003"),
                             (0.25, "largest difference 0.250 at [2,2]: 0.500 and 0.750")):
                right.write_text(json.dumps(PER_HEAD | {"X": [[1, 0], [0, 0.5 + by]]}))
                text = page("compare", left, right)
                self.assertIn(told, text)
                self.assertNotRegex(text, "largest difference -?0(\\.0+)? ")

    def test_packed_equals_per_head(self):
        with tempfile.TemporaryDirectory() as folder:
            left, right = Path(folder, "a.json"), Path(folder, "b.json")
            left.write_text(json.dumps(PER_HEAD))
            right.write_text(json.dumps(PACKED))
            text = page("compare", left, right)
            self.assertIn("All steps that both sides have are equal.", text)
            self.assertIn("only on the right", text)
            PER_HEAD["heads"][1]["W_V"] = [[1, 1], [1, 0]]
            left.write_text(json.dumps(PER_HEAD))
            self.assertIn("V⁽²⁾", next(line for line in page("compare", left, right).splitlines() if "←" in line))

    def test_other_sizes_and_languages(self):
        text = page("compare", "bag_zh", "bag_one_head_zh", "--lang", "zh")
        self.assertIn("最先不同", text)
        self.assertIn("只有左边有", text)

    def test_usage(self):
        for arguments, word in ((["worked"], "two problems"), (["worked"], "or one and --mistake ID, --as-layers, --as-one-head or --loop"), (["worked", "packed", "--loop"], "one problem"),
                                (["worked", "--loop", "--as-layers"], "one at a time"),
                                (["worked", "--mistake", "no_scale", "--as-one-head"], "one at a time"),
                                (["cross", "--as-layers"], "self-attention"), (["block", "--as-layers"], "without norm"),
                                (["large", "--as-layers"], "several heads"), (["worked_twice", "--as-layers"], "one self-attention"),
                                (["rotary", "--as-one-head"], "rotary"), (["grouped", "--as-one-head"], "as many keys"),
 (["worked", "packed", "--mistake", "no_scale"], "one problem"),
                                (["worked", "--mistake", "no_scal"], "no_scale"),
                                (["worked", "--mistake", "gqa_tiled"], "cannot be made"),
                                (["worked", "--mistake", "gqa_tiled"], "mha compare grouped --mistake gqa_tiled")):
            result = run("compare", *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, b""))
            self.assertIn(word, result.stderr.decode())

    def test_a_refusal_names_what_the_problem_has(self):
        for name, key, option, what in (("cross", "X_kv", "--as-layers", "takes keys and values from X_kv"), ("block", "norm", "--as-layers", "has a norm"),
                                        ("large", "heads", "--as-layers", "has one head"),
                                        ("worked_twice", "layers", "--as-layers", "has layers already"),
                                        ("large", "heads", "--as-one-head", "has one head"),
                                        ("rotary", "rope", "--as-one-head", "rotates queries and keys"),
                                        ("grouped", "kv_heads", "--as-one-head", "has heads that share keys and values")):
            result = run("compare", name, option)
            self.assertEqual(result.returncode, 2)
            message = result.stderr.decode()
            self.assertTrue(message.endswith(f"; this problem {what}\n"), message)
            self.assertTrue(message.startswith(f"mha: {name}: {key}: {option}: "), message)


STACKED = [[.526, 1.271, 1.271, .526], [.445, 1.398, 1.398, .445], [.492, 1.325, 1.325, .492]]


def compared(*arguments):
    return json.loads(page("compare", *arguments, "--format", "json"))


class HeadsOtherwise(unittest.TestCase):
    def near(self, actual, expected, tolerance=1e-12):
        self.assertEqual(np.shape(actual), np.shape(expected))
        self.assertLessEqual(np.abs(np.array(actual) - np.array(expected)).max(), tolerance)

    def test_heads_as_layers(self):
        found = compared("worked", "--as-layers")
        steps = {(step["step"], step.get("head")): step for step in found["steps"]}
        self.assertEqual(found["change"], "as_layers")
        self.near(steps["output", None]["right"], STACKED, 6e-4)
        right = json.loads(page("run", "worked", "--format", "json"))
        self.near(np.sum(found["shares"], axis=0), right["output"])
        self.assertEqual(found["inputs"], [right["X"], found["shares"][0]])
        case = SOURCE / "tests" / "cases" / "layers_heads_as_layers" / "trace.json"
        layers = json.loads(case.read_text())["layers"]
        for step in ("Q", "K", "V", "scores", "scaled", "weights", "head_output"):
            self.near(steps[step, 2]["right"], layers[1]["heads"][0][step])
            self.assertTrue(steps[step, 1]["equal"])
        text = page("compare", "worked", "--as-layers")
        for row in STACKED:
            self.assertIn(" ".join(f"{number:.3f}" for number in row), text)
        self.assertRegex(text, r"layer 1 reads +layer 2 reads +Y")
        self.assertIn("head 0", page("compare", "worked", "--as-layers", "--index-base", "0"))

    def test_random_heads_as_layers(self):
        done = 0
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "p.json")
            for problem in problems(3, 2 * len(FEATURES)):
                file.write_text(json.dumps(problem.as_json()))
                result = run("compare", file, "--as-layers", "--format", "json")
                if problem.cross or problem.h == 1 or (problem.h * problem.d_v if problem.identity else problem.d_out) != problem.d:
                    self.assertEqual(result.returncode, 2)
                    continue
                steps, X, done = {}, problem.X, done + 1
                W_O = np.eye(problem.h * problem.d_v) if problem.identity else problem.W_O
                original = problem.X
                for i in range(problem.h):
                    problem.X = X
                    heads = Attention(problem).compute()["head_output"]
                    X = heads[:, i] @ W_O[i * problem.d_v:(i + 1) * problem.d_v]
                problem.X = original
                X = X if problem.b_O is None else X + problem.b_O
                last = [step for step in json.loads(result.stdout)["steps"] if step["step"] == "output"]
                for item, step in enumerate(last):
                    if "right" in step and np.isfinite(X).all():
                        self.near(step["right"], X[item], 1e-9 * max(1, np.abs(X).max()))
        self.assertGreater(done, 30)

    def test_heads_as_one(self):
        done = 0
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "p.json")
            for problem in problems(5, 2 * len(FEATURES)):
                file.write_text(json.dumps(problem.as_json()))
                try:
                    steps = not_split(problem)
                except DoesNotFit:
                    continue
                found = compared(file, "--as-one-head")
                done += 1
                for step in found["steps"]:
                    if "right" in step and step["step"] in ("weights", "output") and np.isfinite(steps["output"]).all():
                        own = steps[step["step"]].reshape(-1, *np.shape(step["right"]))[step.get("item", 1) - 1]
                        self.near(step["right"], own, 1e-9)
        self.assertGreater(done, 15)

    def test_head_by_head_has_the_same_bits(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "p.json")
            drawn = [problem.as_json() for problem in problems(9, len(FEATURES))]
            rng = np.random.default_rng(1)
            for extra in ({}, {"layout": "torch", "mask": "alibi"}, {"rope": {}, "mask": "causal"}):  # large: other kernels
                W = {name: rng.normal(size=(96, 96)).tolist() for name in ("W_Q", "W_K", "W_V", "W_O")}
                drawn.append({"X": rng.normal(size=(72, 96)).tolist(), "num_heads": 8, **W, **extra})
            for problem in drawn:
                file.write_text(json.dumps(problem))
                text = " ".join(page("compare", file, "--loop", "--steps", "output").split())
                self.assertRegex(text, r"of [1-9]\d+ numbers 0 have other bits", problem)
            file.write_text(json.dumps(drawn[-1]))
            found = compared(file, "--loop")
            self.assertEqual([step["equal"] for step in found["steps"] if step["step"] == "weights"], [True] * 8)
        for name in ("block", "gated", "grouped", "padding", "cross", "stack", "worked_twice"):
            self.assertIn(" 0 have other bits", " ".join(page("compare", name, "--loop").split()))


class Mistakes(unittest.TestCase):
    def test_all_are_listed_in_both_languages(self):
        english, chinese = page("mistakes"), page("mistakes", "--lang", "zh")
        for mistake in ("no_scale", "gqa_first_only", "rope_direction", "softcap_after_mask", "padding_on_queries"):
            self.assertIn(mistake, english)
            self.assertIn(mistake, chinese)
        self.assertIn("没有缩放注意力分数", chinese)

    def test_what_the_worked_example_can_show(self):
        text = page("mistakes", "worked")
        shown, rest = text.split("give the same numbers here")
        self.assertIn("no_scale", shown)
        self.assertIn("scale_sqrt_dmodel, scale_dk", rest)  # h = d_k
        self.assertIn("swap_qk", rest.split("hides")[1].split("cannot be made")[0])  # W_Q = W_K
        self.assertIn("gqa_tiled", rest.split("cannot be made")[1])


if __name__ == "__main__":
    unittest.main()
