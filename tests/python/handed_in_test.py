"""How people write a sheet down that is right in all but its form, or wrong for one reason: weights moved so that a row sums
to 1, digits cut off, every matrix transposed, a mask with 0 for −∞, V turned by rope. The numbers are NumPy's."""

import itertools
import json
import unittest

import numpy as np

from check_test import InFolder
from fair_answers import MISTAKES
from mha import run
from numpy_attention import Attention, DoesNotFit
from random_problems import FEATURES, Problem

PER_HEAD = ("Q", "K", "V", "Q_rot", "K_rot", "scores", "scaled", "capped", "masked", "weights", "head_output")
WHOLE = ("concat", "output")
CUT = "cut off rather than rounded"
MOVED = "sums to exactly 1"


def cut(decimals):
    """As people do who copy no more than these digits; what a double lacks of a decimal is no digit."""
    unit = 10 ** decimals
    return lambda step, numbers: np.trunc(numbers * unit + np.sign(numbers) * 1e-9) / unit


def problem_of(seed, feature):
    """Without a batch, a layout of its own or groups, which are written otherwise."""
    for attempt in itertools.count():
        problem = Problem(np.random.default_rng([seed, attempt]), feature)
        if not problem.batch and problem.g == problem.h and not problem.keyless.any():
            return problem


def problems(count, features=("plain", "causal", "biases", "cross", "rope", "softcap", "padding")):
    return [problem_of(seed, feature) for feature in features if feature in FEATURES for seed in range(count)]


def number(x):
    return "-inf" if x == -np.inf else "nan" if np.isnan(x) else float(x)


def sheet(steps, keep=lambda step, numbers: numbers, only=None, transposed=False):
    """The answer file with these steps."""
    def rows(step, numbers):
        kept = keep(step, numbers)
        return [[number(x) for x in row] for row in (kept.T if transposed else kept)]
    shown = [step for step in steps if only is None or step in only]
    heads = len(steps["scores"][0])
    answer = {"heads": [{"head": i + 1, **{s: rows(s, steps[s][0][i]) for s in PER_HEAD if s in shown}} for i in range(heads)]}
    return answer | {s: rows(s, np.squeeze(steps[s], axis=tuple(range(np.ndim(steps[s]) - 2)))) for s in WHOLE if s in shown}


class HandedIn(InFolder):
    def page(self, problem, answer, language="en"):
        done = run("check", self.write("problem.json", problem), self.write("answer.json", answer), "--lang", language)
        return done.stdout.decode()

    def reports(self, problem, answers):
        lines = "".join(json.dumps(answer) + "\n" for answer in answers)
        path = self.folder / "answers.jsonl"
        path.write_text(lines, encoding="utf-8")
        done = run("check", self.write("problem.json", problem), path, "--format", "json")
        return json.loads(done.stdout)["answers"]

    def report(self, problem, answer):
        return self.reports(problem, [answer])[0]

    def worked(self):
        return json.loads(run("examples", "worked").stdout)


class Weights(HandedIn):
    def adjusted(self, weights, decimals):
        """Rounded, and the entry that `choose` says moved by what the sum lacks of 1; how many were moved."""
        rounded = np.round(weights, decimals)
        lacking = np.round(1 - rounded.sum(axis=-1), decimals)
        return rounded, lacking

    def test_one_of_a_row_is_moved_so_that_it_sums_to_1(self):
        counted = 0
        for problem, decimals in itertools.product(problems(3), (2, 3)):
            steps = Attention(problem).compute()
            rounded, lacking = self.adjusted(steps["weights"][0], decimals)
            at = [tuple(place) for place in np.argwhere(np.abs(np.abs(lacking) - 10.0 ** -decimals) < 1e-9)]
            keep = lambda step, numbers: np.round(numbers, decimals)
            for head, row in at:
                visible = np.flatnonzero(steps["weights"][0, head, row] > 0.05)
                if len(visible) < 2:
                    continue
                right, wrong, two = (rounded.copy() for _ in range(3))
                right[head, row, visible[-1]] += lacking[head, row]
                wrong[head, row, visible[-1]] += lacking[head, row] + 10 * 10.0 ** -decimals
                wrong[head, row, visible[0]] -= 10 * 10.0 ** -decimals
                two[head, row, visible[-1]] += 3 * 10.0 ** -decimals
                two[head, row, visible[0]] += lacking[head, row] - 3 * 10.0 ** -decimals
                answers = [sheet(dict(steps, weights=np.round(changed, decimals)[None]), keep, only={"scores", "weights", "output"})
                           for changed in (right, wrong, two)]
                reports = self.reports(problem.as_json(), answers)
                self.assertEqual([r["verdict"] for r in reports], ["right", "wrong", "wrong"],
                                 (problem.feature, decimals, head, row, right[head]))
                counted += 1
            if counted > 40:
                break
        self.assertGreater(counted, 15)

    def test_what_follows_from_the_moved_weight_or_from_the_true_one_is_right(self):
        V = np.array([[9.0, 1], [5, 2], [7, 3]])
        problem = {"X": [[1, 1, 0], [0, 1, 1], [1, 0, 2]],
                   "heads": [{"W_Q": [[0, 0]] * 3, "W_K": [[0, 0]] * 3, "W_V": np.linalg.solve([[1, 1, 0], [0, 1, 1], [1, 0, 2]], V).tolist()}],
                   "W_O": "identity"}
        moved = np.array([[0.33, 0.33, 0.34]] * 3)  # of thirds
        for weights in (moved, np.full((3, 3), 1 / 3)):
            answer = {"A1": moved.tolist(), "head1": np.round(weights @ V, 2).tolist()}
            self.assertEqual(self.report(problem, answer)["verdict"], "right")
        self.assertIn(MOVED, self.page(problem, {"A1": moved.tolist()}).replace("\n", " ").replace("   ", ""))
        self.assertIn("恰为 1", self.page(problem, {"A1": moved.tolist()}, "zh"))
        self.assertNotIn("exactly 1", self.page(problem, {"A1": [[0.33, 0.33, 0.33]] * 3}))
        for wrong in ([0.33, 0.33, 0.35], [0.32, 0.33, 0.35], [0.31, 0.33, 0.36]):
            self.assertEqual(self.report(problem, {"A1": [wrong] * 3})["verdict"], "wrong", wrong)


class CutOff(HandedIn):
    def test_a_sheet_is_right_whether_it_is_worked_with_or_not(self):
        for problem in problems(1):
            for decimals in (2, 3):
                then = Attention(problem).compute()
                chained = Attention(problem, keep=cut(decimals)).compute()
                answers = [sheet(then, cut(decimals)), sheet(then, cut(decimals), only={"weights"}), sheet(chained),
                           sheet(chained, only={"scaled", "weights", "output"})]
                for report in self.reports(problem.as_json(), answers):
                    self.assertEqual(report["verdict"], "right", (problem.feature, decimals, report["message"]))

    def test_hidden_steps_are_taken_so_only_where_others_show_it(self):
        trace = json.loads(run("run", "worked_twice", "--format", "json").stdout)
        problem = json.loads(run("examples", "worked_twice").stdout)
        first, last = trace["layers"]
        for off, verdict in ((0, "right"), (0.25, "wrong")):
            last_output = np.round(last["output"], 2)
            last_output[0, 0] += off
            answer = {"layer1.Q1": np.round(first["heads"][0]["Q"], 2).tolist(), "layer2.Y": last_output.round(2).tolist()}
            self.assertEqual(self.report(problem, answer)["verdict"], verdict, off)

    def test_it_is_said_in_both_languages(self):
        steps = Attention(problem_of(1, "causal")).compute()
        problem = problem_of(1, "causal").as_json()
        self.assertIn(CUT, " ".join(self.page(problem, sheet(steps, cut(3))).split()))
        self.assertIn("截去", self.page(problem, sheet(steps, cut(3)), "zh"))
        rounded = sheet(steps, lambda step, numbers: np.round(numbers, 3))
        self.assertNotIn(CUT, " ".join(self.page(problem, rounded).split()))

    def test_a_number_too_far_or_on_the_other_side_stays_wrong(self):
        for problem in problems(2, ("plain", "causal", "biases")):
            steps = Attention(problem).compute()
            for step, off in (("scaled", 0.005), ("weights", 0.005), ("head_output", -0.006)):
                answer = sheet(steps, cut(3))
                row = answer["heads"][0][step][-1]
                row[0] = round(row[0] + np.copysign(off, row[0]), 3)
                self.assertEqual(self.report(problem.as_json(), answer)["verdict"], "wrong", (problem.feature, step))

    def test_one_decimal_is_too_few(self):
        answer = {"A1": [[0.3, 0.1, 0.3], [0, 0.7, 0.1], [0.1, 0.3, 0.3]]}  # 0.401 0.198 0.401 and so on
        self.assertEqual(self.report(self.worked(), answer)["verdict"], "wrong")

    def test_a_mistake_that_is_cut_off_stays_wrong(self):
        """Each on a problem that shows it beyond the last digit, all of the sheet and its result alone."""
        tried = 0
        for problem, mistake in itertools.product(problems(1, ("plain", "causal", "biases", "rope")), MISTAKES):
            right = Attention(problem).compute()
            try:
                steps = Attention(problem, mistake, rng=np.random.default_rng(1)).compute()
                answers = [sheet(steps, cut(3)), sheet(steps, cut(3), only={"weights"}), sheet(steps, cut(3), only={"output"})]
            except (DoesNotFit, ValueError, KeyError, TypeError, IndexError):
                continue
            shows = [np.shape(steps[step]) == np.shape(right[step]) and (np.abs(steps[step] - right[step]) > 0.05).any()
                     for step in ("output", "weights", "output")]
            answers = [answer for answer, shown in zip(answers, shows) if shown]
            if not answers:
                continue
            for report in self.reports(problem.as_json(), answers):
                self.assertEqual(report["verdict"], "wrong", (problem.feature, mistake))
                tried += 1
        self.assertGreater(tried, 100)


class Transposed(HandedIn):
    def test_it_is_said_once(self):
        for problem in problems(2, ("plain", "causal", "biases", "cross")):
            steps = Attention(problem).compute()
            answer = sheet(steps, lambda step, numbers: np.round(numbers, 3), transposed=True)
            report = self.report(problem.as_json(), answer)
            self.assertEqual((report["verdict"], report["mistakes"]), ("wrong", []), problem.feature)
            self.assertIn("transposed", report["message"])
            first = report["first_wrong"]["step"]
            self.assertTrue(all(s["step"] == first for s in report["steps"] if s["verdict"] == "wrong"))
            self.assertGreater(report["score"], 0.5)
            page = self.page(problem.as_json(), answer)
            self.assertEqual(page.count("≠"), 1)

    def test_one_matrix_among_others_is_no_such_sheet(self):
        problem = problem_of(1, "plain")
        answer = sheet(Attention(problem).compute(), lambda step, numbers: np.round(numbers, 3))
        answer["output"] = np.transpose(answer["output"]).tolist()
        answer["concat"] = np.transpose(answer["concat"]).tolist()
        self.assertNotIn("every matrix", self.report(problem.as_json(), answer)["message"])


class Masks(HandedIn):
    def setUp(self):
        super().setUp()
        self.problem = json.loads(run("examples", "causal").stdout)
        trace = json.loads(run("run", "causal", "--format", "json").stdout)
        self.heads = trace["heads"]

    def answer(self, fill, steps):
        """`fill(score)` gives what a visible entry and a hidden one become."""
        def masked(head):
            return [[fill(z)[m == "-inf"] for z, m in zip(*rows)] for rows in zip(head["scaled"], head["masked"])]
        return {"heads": [{"head": h["head"], **{s: h[s] for s in steps}, "masked": masked(h)} for h in self.heads]}

    def test_zero_for_infinity_is_named_where_the_weights_are_right(self):
        report = self.report(self.problem, self.answer(lambda z: (z, 0), ["weights"]))
        self.assertEqual((report["verdict"], report["mistakes"]), ("wrong", []))
        self.assertIn("0 stands where the mask hides a key", report["message"])
        self.assertNotIn("No known mistake", report["message"])

    def test_masked_scores_alone_tell_of_no_softmax(self):
        report = self.report(self.problem, self.answer(lambda z: (z, 0), []))
        self.assertIn("mask_multiplied", report["mistakes"])
        self.assertFalse({"no_softmax", "sum_normalised"} & set(report["mistakes"]))

    def test_the_mask_itself(self):
        for fill in ((1, 0), (0, "-inf"), (0, 1)):
            for steps in ([], ["scaled"], ["scaled", "weights"]):
                report = self.report(self.problem, self.answer(lambda z, fill=fill: fill, steps))
                self.assertIn("mask itself stands here", report["message"])
        self.assertIn("掩码本身", self.page(self.problem, self.answer(lambda z: (1, 0), []), "zh"))

    def test_a_mask_with_nan_is_blamed_itself(self):
        for bad in (float("nan"), float("inf")):
            problem = self.worked() | {"mask": {"add": [[0, bad, 0], [0, 0, 0], [0, 0, -np.inf]]}}
            path = self.write("nan.json", problem)
            for command in (["run"], ["gradient", "--loss", "sum"]):
                message = run(*command, path).stderr.decode()
                self.assertIn("mask holds NaN", message)
                self.assertNotIn("X or the weights", message)
            self.assertIn("掩码中有 NaN", run("run", path, "--lang", "zh").stderr.decode())
        path = self.write("large.json", self.worked() | {"X": [[1e200] * 4] * 3, "mask": {"add": [[0, -np.inf, 0]] * 3}})
        self.assertIn("X or the weights", run("run", path).stderr.decode())


class TurnedValues(HandedIn):
    def test_rope_on_v_is_named_wherever_it_shows(self):
        counted = 0
        for seed, feature in itertools.product(range(12), ("rope", "rope packed", "packed")):
            problem = problem_of(seed, feature)
            if problem.d_v != problem.d_k or problem.cross:
                continue
            if problem.rope is None:
                even = problem.d_k - problem.d_k % 2
                problem.rope = {"base": 100.0, "pairing": "half", "dims": even, "start": 0}
            right = Attention(problem).compute()
            steps = Attention(problem, "rope_on_values").compute()
            at = np.arange(problem.rope["start"], problem.rope["start"] + problem.n)
            V = Attention(problem).rotated(right["V"], at)
            rounded = lambda step, numbers: np.round(numbers, 3)
            answers = [sheet(dict(steps, V=V), rounded, only=only)
                       for only in ({"V"}, {"V", "weights", "head_output"}, {"V", "output"}, {"head_output"})]
            answers.append({"V": np.concatenate(list(np.round(V[0], 3)), axis=1).tolist()})
            for report in self.reports(problem.as_json(), answers):
                self.assertIn("rope_on_values", report["mistakes"], (feature, seed, report["message"]))
                counted += 1
        self.assertGreater(counted, 30)


if __name__ == "__main__":
    unittest.main()
