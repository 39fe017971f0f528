"""What mha check makes of answers that are large, of groups whose keys stand once, and of names from other texts."""

import json
import math
import unittest

import numpy as np

from check_test import WORKED, InFolder
from mha import MHA, run


CAUSAL = json.loads(run("run", "causal", "--format", "json").stdout)


def rounded(rng, *shape):
    return np.round(rng.normal(0, 0.25, shape), 2)


def heads_of(x, h):
    return x.reshape(len(x), h, -1).transpose(1, 0, 2)


def softmax(z):
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Large(InFolder):
    """Not small enough for a reading of every step unless something is wrong."""

    n, d, h = 320, 64, 4

    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(5)
        self.X, self.W = rounded(rng, self.n, self.d), {w: rounded(rng, self.d, self.d) for w in "QKVO"}
        weights = {f"W_{w}": W.tolist() for w, W in self.W.items()}
        self.problem = self.write("problem.json", {"X": self.X.tolist(), "num_heads": self.h, **weights})

    def output(self, divisor):
        Q, K, V = (heads_of(self.X @ self.W[w], self.h) for w in "QKV")
        heads = softmax(Q @ K.transpose(0, 2, 1) / divisor) @ V
        return heads.transpose(1, 0, 2).reshape(self.n, -1) @ self.W["O"]

    def judged(self, output):
        return self.report(self.write("answer.json", {"Y": output.tolist()}), problem=self.problem)[0]

    def test_the_output_alone(self):
        right = self.output((self.d / self.h) ** 0.5)
        self.assertEqual(self.judged(right)["verdict"], "right")
        self.assertEqual(self.judged(np.round(right, 3))["verdict"], "right")
        wrong = self.judged(self.output(self.d ** 0.5))
        self.assertEqual((wrong["verdict"], wrong["first_wrong"]["step"]), ("wrong", "output"))
        self.assertIn("scale_sqrt_dmodel", wrong["mistakes"])
        for divisor, mistake in ((self.d ** 0.5, "scale_sqrt_dmodel"), (1, "no_scale")):  # few decimals hide nothing
            wrong = self.judged(np.round(self.output(divisor), 3))
            self.assertEqual((wrong["verdict"], wrong["mistakes"]), ("wrong", [mistake]))
        right[200, 30] += 0.5
        slip = self.judged(right)
        self.assertEqual((slip["verdict"], slip["mistakes"]), ("wrong", []))
        page = run("check", self.problem, self.folder / "answer.json").stdout.decode()
        self.assertIn("rows 200 to 202, columns 30 to 32 of 320×64", page)
        self.assertLess(len(page.splitlines()), 40)


class Angles(InFolder):
    def test_float32_angles_of_far_positions(self):
        """As PyTorch code has them: frequencies, angles, cosines and sines in float32."""
        rng, f32 = np.random.default_rng(4), np.float32
        for n, d, base in ((64, 8, 10000), (512, 16, 10000), (300, 32, 500000)):
            X = rng.standard_normal((n, d)).astype(f32)
            frequency = (f32(1) / f32(base) ** (np.arange(0, d, 2, dtype=f32) / f32(d))).astype(f32)
            angle = np.arange(n, dtype=f32)[:, None] * frequency
            first, second, cos, sin = X[:, :d // 2], X[:, d // 2:], np.cos(angle), np.sin(angle)
            rotated = np.concatenate([first * cos - second * sin, second * cos + first * sin], 1)
            one = np.eye(d).tolist()
            problem = {"X": X.astype(float).tolist(), "heads": [{"W_Q": one, "W_K": one, "W_V": one}], "W_O": "identity",
                       "rope": {"base": base}}
            (self.folder / "p.json").write_text(json.dumps(problem))
            for name, factor, code in (("right", 1, 0), ("off", 1.01, 1)):
                np.savez(self.folder / f"{name}.npz", Q1=X, Q_rot1=(rotated * f32(factor)).astype(f32))
                result = run("check", self.folder / "p.json", self.folder / f"{name}.npz")
                self.assertEqual(result.returncode, code, (n, d, result.stdout.decode()[:300]))


@unittest.skipIf(MHA.parent.name == "build-asan", "every mistake is tried in both layers, which takes two minutes there")
class Float32Results(InFolder):
    def test_of_a_stack_nothing_but_the_last_result(self):
        """What roundings could do at their worst in two layers would let anything pass."""
        from numpy_blocks import random_stack, stack
        for seed, kinds in ((1, ("gated", "gated")), (2, ("pre", "post")), (3, ("pre", "gated"))):
            problem = random_stack(seed, kinds, d=16, tokens=7)
            (self.folder / "p.json").write_text(json.dumps(problem))
            final = stack(problem, keep=lambda numbers: np.asarray(numbers, np.float32))[1].astype(np.float32)
            rng = np.random.default_rng(seed)
            for name, answer, code in (("right", final, 0), ("off", final * (1 + 1e-2 * rng.standard_normal(final.shape)), 1),
                                       ("noise", rng.standard_normal(final.shape), 1)):
                np.savez(self.folder / "a.npz", final_norm=np.asarray(answer, np.float32))
                result = run("check", self.folder / "p.json", self.folder / "a.npz")
                self.assertEqual(result.returncode, code, (seed, name, result.stdout.decode()[:300]))


class ZerosLeftOut(InFolder):
    """Python writes 1.0000 as 1.0, which does not say how many decimals a number has."""

    def test_weights_that_choose_one_key_say_nothing_of_what_was_not_handed_in(self):
        problem = self.write("problem.json", {
            "X": [[2, 1], [1, 2]], "W_O": [[2, -2], [2, 2], [-1, -1], [0, -1]],
            "heads": [{"W_Q": [[-9, -9], [-9, -18]], "W_K": [[0, 0], [2, -2]], "W_V": [[2, 1], [0, -1]]},
                      {"W_Q": [[1, 0], [-1, 2]], "W_K": [[-1, 1], [-2, 2]], "W_V": [[-2, 0], [0, 2]]}]})
        judged = lambda answer: self.report(self.write("answer.json", answer), problem=problem)[0]
        unscaled = {"A1": [[0.0, 1.0], [0.0, 1.0]], "A2": [[0.269, 0.731], [0.007, 0.993]],
                    "Y": [[4.538, -6.924], [4.013, -7.973]]}
        for left_out in ((), ("A2",), ("Y",)):
            found = judged({name: numbers for name, numbers in unscaled.items() if name not in left_out})
            self.assertEqual((found["verdict"], found["mistakes"]), ("wrong", ["no_scale"]), left_out)

    def test_one_hot_and_equal_weights_of_random_problems(self):
        """Scores so far apart, or equal since tokens are, that most rows of a head are 1 and 0, or halves."""
        seen = {"right": 0, "wrong": 0}
        for seed in range(25):
            rng = np.random.default_rng(seed)
            X, W_O = rng.uniform(-2, 2, (4, 4)).round(1), rng.uniform(-2, 2, (4, 4)).round(1)
            X[3] = X[2]
            weights = [[rng.uniform(-size, size, (4, 2)).round(1) for _ in "QKV"] for size in (6, 1)]
            problem = self.write("problem.json", {"X": X.tolist(), "W_O": W_O.tolist(), "heads": [
                {f"W_{w}": W.tolist() for w, W in zip("QKV", of, strict=True)} for of in weights]})
            for scale, verdict in ((2 ** -0.5, "right"), (1, "wrong")):
                A = [softmax((X @ W_Q) @ (X @ W_K).T * scale) for W_Q, W_K, _ in weights]
                Y = np.hstack([a @ X @ of[2] for a, of in zip(A, weights, strict=True)]) @ W_O
                whole = {"A1": A[0], "A2": A[1], "Y": Y}
                for left_out in ((), ("A2",), ("Y",)):
                    answer = {name: x.round(4).tolist() for name, x in whole.items() if name not in left_out}
                    found = self.report(self.write("answer.json", answer), problem=problem)[0]
                    self.assertEqual(found["verdict"], verdict, (seed, left_out, found["first_wrong"], answer))
                    seen[verdict] += np.array_equal(2 * A[0].round(4), np.round(2 * A[0].round(4)))
        self.assertGreater(min(seen.values()), 10)

    def test_one_matrix_in_whole_numbers_beside_decimals(self):
        rounded_to = lambda digits, x: [[round(number, digits) for number in row] for row in x]
        decimals = {f"A{head['head']}": rounded_to(4, head["weights"]) for head in WORKED["heads"]}
        whole = rounded_to(None, WORKED["output"])
        self.assertEqual(self.verdict({**decimals, "Y": whole}), "right")
        whole[0][0] += 1
        self.assertEqual(self.verdict({**decimals, "Y": whole}), "wrong")
        self.assertEqual(self.verdict({"Z1": rounded_to(None, WORKED["heads"][0]["scaled"]), **decimals}), "right")
        unscaled = {"A2": rounded_to(4, softmax(np.array(WORKED["heads"][1]["scores"]))),
                    "Z2": rounded_to(None, WORKED["heads"][1]["scaled"])}
        self.assertEqual(self.verdict(unscaled), "wrong")  # ±0.5 before it is no excuse


class Groups(InFolder):
    def test_kv_head_says_whose_keys_they_are(self):
        rng = np.random.default_rng(2)
        W = lambda: rng.integers(-2, 3, (4, 2)).tolist()
        problem = self.write("problem.json", {
            "X": rng.integers(-2, 3, (3, 4)).tolist(), "heads": [{"W_Q": W()} for _ in range(4)],
            "kv_heads": [{"W_K": W(), "W_V": W()} for _ in range(2)], "W_O": "identity"})
        heads = json.loads(run("run", problem, "--format", "json").stdout)["heads"]
        first = [{key: head[key] for key in ("head", "kv_head", "K", "V")} for head in heads[:2]]
        self.assertEqual(self.verdict({"heads": first}, problem=problem), "right")
        wrong_K = (np.array(heads[0]["K"]) + 1).tolist()
        scores = [(np.array(head["Q"]) @ np.array(wrong_K).T).tolist() for head in heads[:2]]
        answer = {"heads": [{"head": 1, "kv_head": 1, "K": wrong_K, "scores": scores[0]},
                            {"head": 2, "kv_head": 1, "scores": scores[1]}]}
        steps = self.report(self.write("answer.json", answer), problem=problem)[0]["steps"]
        found = {(step["step"], step["head"]): step["verdict"] for step in steps}
        self.assertEqual([found["scores", 1], found["scores", 2]], ["following", "following"])


    def test_numbers_of_heads_that_may_be_those_of_groups(self):
        """Of h query heads and g key/value heads, K1 … Kg alone, in either numbering."""
        heads = json.loads(run("run", "grouped", "--format", "json").stdout)["heads"]
        g = max(head["kv_head"] for head in heads)
        self.assertTrue(1 < g < len(heads))
        of_groups = [next(head["K"] for head in heads if head["kv_head"] == k) for k in range(1, g + 1)]
        of_queries = [head["K"] for head in heads[:g]]
        self.assertNotEqual(of_groups, of_queries)
        judged = lambda Ks: self.report(self.write("answer.json", {f"K{i}": K for i, K in enumerate(Ks, 1)}),
                                        problem="grouped")[0]
        for Ks, given in ((of_groups, len(heads)), (of_queries, g)):
            self.assertEqual((judged(Ks)["verdict"], judged(Ks)["given"]), ("right", given))
        of_queries[0] = [[x + 5 for x in row] for row in of_queries[0]]
        self.assertEqual(self.wrong_heads(judged(of_queries)), [1])
        page = run("check", "grouped", self.folder / "answer.json").stdout.decode()
        self.assertIn("K and V were read as those of query heads", page)

    def wrong_heads(self, report):
        return [step["head"] for step in report["steps"] if step["verdict"] == "wrong"]


class SideBySide(InFolder):
    """X times all W_Q at once, where the problem has one for each head."""

    def setUp(self):
        super().setUp()
        self.heads = WORKED["heads"]
        self.steps = {name: [head[key] for head in self.heads] for name, key in
                      (("S", "scores"), ("Z", "scaled"), ("A", "weights"), ("head", "head_output"))}
        self.steps |= {"concat": WORKED["concat"], "Y": WORKED["output"]}
        self.wide = {name: np.hstack([head[name] for head in self.heads]).tolist() for name in "QKV"}

    def judged(self, answer, problem="worked"):
        return self.report(self.write("answer.json", answer), problem=problem)[0]

    def test_the_columns_are_cut_into_heads(self):
        of = self.judged(WORKED)["of"]
        for answer in (self.wide, {"packed": self.wide}, {f"packed.{name}": m for name, m in self.wide.items()}):
            report = self.judged(answer | self.steps)
            self.assertEqual((report["verdict"], report["given"], report["score"]), ("right", of, 1))
            page = run("check", "worked", self.folder / "answer.json").stdout.decode()
            self.assertIn("its columns were cut into heads", " ".join(page.split()))
        self.wide["K"][1][3] += 1
        report = self.judged(self.wide | self.steps)
        self.assertEqual((report["verdict"], report["first_wrong"]), ("wrong", {"step": "K", "head": 2}))
        self.wide["K"][1][3] = None
        self.assertEqual(self.judged(self.wide | self.steps)["verdict"], "incomplete")

    def test_groups_have_fewer_columns_of_keys(self):
        heads = json.loads(run("run", "grouped", "--format", "json").stdout)["heads"]
        of_groups = {head["kv_head"]: head["K"] for head in heads}
        for Ks in (list(of_groups.values()), [head["K"] for head in heads]):
            report = self.judged({"K": np.hstack(Ks).tolist()}, problem="grouped")
            self.assertEqual((report["verdict"], report["given"]), ("right", len(heads)))

    def test_who_goes_on_with_one_head_has_not_split_them(self):
        S = np.array(self.wide["Q"]) @ np.array(self.wide["K"]).T
        report = self.judged(self.wide | {"S": S.tolist()})
        self.assertEqual((report["first_wrong"]["step"], report["mistakes"]), ("Q", ["not_split"]))


class OddCells(InFolder):
    """One cell that no program would write makes no sheet unusable."""

    def judged(self, answer, problem="causal"):
        return self.report(self.write("answer.json", answer), problem=problem)[0]

    def test_minus_infinity_in_any_spelling(self):
        masked = CAUSAL["heads"][0]["masked"]
        text = json.dumps({"M1": masked})
        self.assertIn('"-inf"', text)
        for spelled in ("-Infinity", "-Inf", "−inf", "-INF", "−Infinity", " -inf ", "–∞"):
            self.assertEqual(self.judged(text.replace("-inf", spelled))["verdict"], "right", spelled)
        for bare in ("-inf", "-Infinity", "−∞", "-INF"):
            self.assertEqual(self.judged(text.replace('"-inf"', bare))["verdict"], "right", bare)
        self.assertEqual(self.judged(text.replace("-inf", "+∞"))["verdict"], "wrong")

    def test_numbers_as_texts(self):
        three = [[f"{x:.3f}" for x in row] for row in WORKED["heads"][0]["scaled"]]
        for change in ((".", "."), (".", ","), ("-", "−"), ("0.", "+0.")):
            cells = [[x.replace(*change) for x in row] for row in three]
            report = self.judged({"Z1": cells}, "worked")
            self.assertEqual((report["verdict"], report["given"]), ("right", 1), cells)
        three[0][0] = "0.70"  # 3 decimals of it are 0.707
        self.assertEqual(self.judged({"Z1": three}, "worked")["verdict"], "wrong")

    def test_what_is_no_number_is_a_blank_that_is_named(self):
        Y = [row[:] for row in WORKED["output"]]
        for cell, said in (("", None), ("  ", None), ("?", 'the text "?"'), ("about 2", 'the text "about 2"'), (True, "true"),
                           ("1,2,3", 'the text "1,2,3"')):
            for row, column in ((0, 0), (1, 2)):  # also where no number stands before it
                Y = [row[:] for row in WORKED["output"]]
                Y[row][column] = cell
                report = self.judged({"Y": Y, "A1": WORKED["heads"][0]["weights"]}, "worked")
                self.assertEqual((report["verdict"], report["given"]), ("incomplete", 2), cell)
                self.assertIn("blank entries: 1", report["message"])
                if said:
                    self.assertIn(f"Y[{row}][{column}]: {said}", report["message"].replace("The", "the"))
                else:
                    self.assertNotIn("no number", report["message"])
        page = run("check", "worked", self.folder / "answer.json", "--lang", "zh").stdout.decode()
        self.assertIn("不是数", page)
        report = self.judged({"Y": "see my notes", "A1": WORKED["heads"][0]["weights"], "A2": ""}, "worked")
        self.assertEqual((report["verdict"], report["given"]), ("right", 1))
        self.assertIn("see my notes", report["message"])
        self.assertEqual(self.judged({"Y": [["?", "?"], ["", None]]}, "worked")["verdict"], "incomplete")

    def test_what_is_no_matrix_stays_unusable(self):
        for text in ('{"Y": [[1, 2], [3]]}', '{"Y": [[1, [2]]]}', '{"Y": [[1, oh]]}', '{"Y": [[1, {"a": 2}]]}', '{"Y": 3}'):
            self.assertEqual(self.judged(text, "worked")["verdict"], "unusable", text)

    def test_a_table(self):
        run("run", "causal", "-q", "-o", self.folder / "steps.csv")
        lines = (self.folder / "steps.csv").read_text(encoding="utf-8")
        hidden = lines.count(",-inf")
        self.assertTrue(hidden)
        for spelled in ("-Infinity", "−inf", "-Inf", '"−∞"'):
            path = self.write("spelled.csv", lines.replace(",-inf", f",{spelled}"))
            self.assertEqual(self.report(path, problem="causal")[0]["verdict"], "right", spelled)
        last = lines.rstrip().rsplit(",", 1)[0] + ",what?\n"
        report = self.report(self.write("odd.csv", last), problem="causal")[0]
        self.assertEqual(report["verdict"], "incomplete")
        self.assertIn(f"odd.csv:{last.count(chr(10))}: the text", report["message"].replace("The", "the"))


class LayerResults(InFolder):
    def test_x_and_the_number_of_a_layer(self):
        """As pages and worksheets of a stack call what its layers give."""
        twice = json.loads(run("run", "worked_twice", "--format", "json").stdout)
        first, second = (layer["output"] for layer in twice["layers"])
        for names in (("X1", "X2"), ("X_1", "X_2"), ("X₁", "X₂")):
            report = self.report(self.write("answer.json", dict(zip(names, (first, second)))), problem="worked_twice")[0]
            given = [(s["layer"], s["step"]) for s in report["steps"] if s["verdict"] == "right"]
            self.assertEqual((report["verdict"], given), ("right", [(1, "output"), (2, "output")]))
            self.assertNotIn("passed over", report["message"])
        report = self.report(self.write("answer.json", {"X2": first}), problem="worked_twice")[0]
        self.assertEqual((report["verdict"], report["first_wrong"]), ("wrong", {"layer": 2, "step": "output", "head": None}))
        report = self.report(self.write("answer.json", {"X2": second, "X3": first}), problem="worked_twice")[0]
        self.assertIn("no layer 3", report["message"])
        self.assertIn("X1 is what a layer", self.report(self.write("answer.json", {"X1": first, "Y": first}))[0]["message"])


class PassedOver(InFolder):
    def test_reports_say_what_was_passed_over(self):
        twice = json.loads(run("run", "worked_twice", "--format", "json").stdout)
        third = {"layers": twice["layers"] + [{**twice["layers"][1], "layer": 3}]}
        path = self.write("answer.json", third)
        self.assertIn("no layer 3", self.report(path, problem="worked_twice")[0]["message"])
        self.assertIn("no layer 3", run("check", "worked_twice", path, "--format", "csv").stdout.decode())
        self.assertIn("no layer 3", self.report(path, "--hint", "1", problem="worked_twice")[0]["message"])


class NextLayer(InFolder):
    """What a layer of a stack reads shows what the person took for the result of the one before."""

    def setUp(self):
        super().setUp()
        worked = json.loads(run("examples", "worked").stdout)
        self.X = worked["X"]
        self.attention = {key: worked[key] for key in ("heads", "W_O")}

    def stack(self, **block):
        return self.write("stack.json", {"X": self.X, "layers": [self.attention | block, self.attention | block]})

    def computed(self, X, **block):
        """The steps of one layer that reads X."""
        trace = json.loads(run("run", self.write("layer.json", {"X": X, **self.attention, **block}), "--format", "json").stdout)
        return {key: trace[key] for key in ("heads", "concat", "output", "residual", "norm") if key in trace}

    def judged(self, first, second, stack):
        return self.report(self.write("answer.json", {"layers": [first, second]}), problem=stack)[0]

    def test_a_residual_sum_that_was_forgotten_in_the_layer_before(self):
        first = self.computed(self.X)
        second = self.computed(first["output"], residual=True)
        report = self.judged(first, second, self.stack(residual=True))
        self.assertEqual((report["first_wrong"], report["mistakes"]),
                         ({"layer": 1, "step": "residual", "head": None}, ["residual_forgotten"]))
        self.assertEqual(report["given"], report["of"] - 1)
        self.assertEqual({step["verdict"] for step in report["steps"] if step.get("layer") == 2}, {"following"})
        whole = self.computed(self.X, residual=True)
        del whole["residual"]  # not written down, but worked with
        second = self.computed((np.array(first["output"]) + self.X).tolist(), residual=True)
        self.assertEqual(self.judged(whole, second, self.stack(residual=True))["verdict"], "right")

    def test_a_norm_that_was_forgotten_in_the_layer_before(self):
        block = {"residual": True, "norm": {"kind": "layer"}, "norm_place": "post"}
        first = self.computed(self.X, residual=True)
        report = self.judged(first, self.computed(first["residual"], **block), self.stack(**block))
        self.assertEqual((report["first_wrong"], report["mistakes"]),
                         ({"layer": 1, "step": "norm", "head": None}, ["norm_missing"]))

    def test_a_layer_that_reads_X_again(self):
        for block in ({}, {"residual": True}):
            first = self.computed(self.X, **block)
            report = self.judged(first, first, self.stack(**block))
            self.assertEqual((report["first_wrong"], report["mistakes"]),
                             ({"layer": 2, "step": "Q", "head": 1}, ["layer_reads_x"]))
            self.assertEqual([step["verdict"] for step in report["steps"] if step["step"] == "output"],
                             ["right", "following"])


class Said(InFolder):
    def test_H_with_a_heads_number_is_that_heads_output(self):
        said = lambda entry: run("explain", "block", entry).stdout.decode()
        self.assertTrue(said("head1[1,1]"))
        self.assertEqual(said("H1[1,1]"), said("head1[1,1]"))
        self.assertEqual(said("H[1,1]"), said("hidden[1,1]"))
        self.assertIn("no head 9", run("explain", "block", "H9[1,1]").stderr.decode())
        self.assertIn("belongs to all heads", run("explain", "block", "F1[1,1]").stderr.decode())

    def test_what_a_later_layer_reads_is_not_called_X(self):
        I = [[1, 0], [0, 1]]
        first = {"heads": [{"W_Q": I, "W_K": I, "W_V": I}], "W_O": [[1], [1]]}  # 2 columns in, 1 out
        second = {"heads": [{"W_Q": I, "W_K": I, "W_V": I}], "W_O": I}
        fault = run("run", self.write("p.json", {"X": I, "layers": [first, second]})).stderr.decode()
        self.assertIn("layers[1].heads[0].W_Q: what layer 1 gives is 2×1 and W_Q is 2×2", fault)
        fault = run("run", self.write("p.json", {"X": [[1], [2]], "layers": [first, second]})).stderr.decode()
        self.assertIn("layers[0].heads[0].W_Q: X is 2×1", fault)


class Required(InFolder):
    def test_half_a_sheet_says_which_heads_are_missing(self):
        path = self.write("answer.json", {"heads": [WORKED["heads"][0]]})
        message = self.report(path, "--require", "all")[0]["message"]
        self.assertIn("not given: head 2: Queries, Keys, Values, Scores, Scaled scores, Weights, Head output; "
                      "Concatenation, Output projection", message)
        message = run("check", "worked", self.write("y.json", {"A2": WORKED["heads"][1]["weights"]}), "--require",
                      "weights", "--lang", "zh", "--format", "csv", "--index-base", "0").stdout.decode()
        self.assertIn("头 0：", message)

    """Steps of one layer of a stack."""

    def test_of_one_layer(self):
        layers = json.loads(run("run", "worked_twice", "--format", "json").stdout)["layers"]
        answer = {"layer1.Y": layers[0]["output"]}
        self.assertEqual(self.verdict(answer, "--require", "layer1.Y", problem="worked_twice"), "right")
        self.assertEqual(self.verdict(answer, "--require", "Y", problem="worked_twice"), "incomplete")
        self.assertEqual(self.verdict(answer, "--require", "concat,layer2.Y", problem="worked_twice"), "incomplete")
        path = self.folder / "answer.json"
        scores = [self.report(path, "--points", points, problem="worked_twice")[0]["score"]
                  for points in ("all=0,output=1", "all=0,output=1,layer2.output=4", "all=0,layer1.output=1")]
        np.testing.assert_allclose(scores, [1 / 2, 1 / 5, 1])

    def test_a_step_that_is_not_there(self):
        path = self.write("answer.json", {"Y": WORKED["output"]})
        for step in ("final_norm", "Y,layer2.Y", "mask"):
            result = run("check", "worked", path, "--require", step)
            self.assertEqual((result.returncode, result.stdout), (2, b""), step)
            self.assertIn("--require", result.stderr.decode())


class TrueNumbers(InFolder):
    """Somebody may have them from a program, whatever is written down before them."""

    def with_a_pencil(self, name):
        answer = json.loads(run("run", name, "--round", "2", "--format", "json").stdout)
        return {key: answer[key] for key in ("heads", "concat", "output")}, json.loads(
            run("run", name, "--format", "json").stdout)

    def verdicts(self, answer, name):
        result = run("check", name, self.write("answer.json", answer), "--format", "json")
        steps = json.loads(result.stdout)["answers"][0]["steps"]
        return {step["step"]: step["verdict"] for step in steps if step["verdict"] != "not_given"}

    def test_behind_rounded_steps(self):
        for name in ("gift_zh", "causal", "packed"):
            answer, truth = self.with_a_pencil(name)
            difference = np.abs(np.array(answer["output"]) - truth["output"]).max()
            for true in (truth["output"], np.round(truth["output"], 3).tolist()):
                answer["output"] = true
                self.assertEqual(set(self.verdicts(answer, name).values()), {"right"}, name)
            answer["output"] = (np.array(truth["output"]) + 0.01).tolist()
            self.assertGreater(difference, 0.005)
            self.assertEqual(self.verdicts(answer, name)["output"], "wrong", name)

    def test_what_the_numbers_exclude_is_not_named_beside_the_mistake(self):
        """Weights without the padding: a padded query's row is a row like any other, and keyless by no convention."""
        X, W_Q, W_K = ([[1, 0], [0, 1], [1, 2]], [[1, 2], [0, 1]], [[1, 0], [1, 1]])
        problem = {"X": X, "heads": [{"W_Q": W_Q, "W_K": W_K, "W_V": [[1, 2], [3, 4]]}], "W_O": [[1, 2], [0, 1]],
                   "mask": {"padding": [1, 1, 0]}}
        Z = (np.array(X) @ W_Q) @ (np.array(X) @ W_K).T / math.sqrt(2)
        answer = {"A1": np.round(softmax(Z), 4).tolist()}
        made = self.report(self.write("answer.json", answer), problem=self.write("problem.json", problem))[0]
        self.assertIn("mask_ignored", made["mistakes"])
        self.assertNotIn("padding_on_queries", made["mistakes"])

    def test_behind_wrong_ones(self):
        answer, truth = self.with_a_pencil("gift_zh")
        for head in answer["heads"]:
            head["head_output"] = (np.array(head["head_output"]) + 9).tolist()
        answer |= {"concat": truth["concat"], "output": truth["output"]}
        verdicts = self.verdicts(answer, "gift_zh")
        self.assertEqual((verdicts["head_output"], verdicts["concat"], verdicts["output"]), ("wrong", "right", "right"))
        answer["concat"] = np.round(truth["concat"]).tolist()  # ±0.5 are near the truth by chance
        self.assertEqual(self.verdicts(answer, "gift_zh")["concat"], "wrong")


class Blanks(InFolder):
    def test_null_is_minus_infinity_only_where_a_key_is_hidden_and_the_row_filled_in(self):
        masked = [[None if x == "-inf" else x for x in row] for row in CAUSAL["heads"][0]["masked"]]
        self.assertIn(None, masked[0])
        self.assertEqual(self.verdict({"M1": masked}, problem="causal"), "right")
        blank = [None] * len(masked[0])
        self.assertEqual(self.verdict({"M1": masked[:-1] + [blank]}, problem="causal"), "incomplete")
        self.assertEqual(self.verdict({"M1": [blank] + masked[1:]}, problem="causal"), "incomplete")
        visible = masked[:-1] + [[None] + masked[-1][1:]]
        self.assertEqual(self.verdict({"M1": visible}, problem="causal"), "incomplete")

    def test_a_blank_in_X(self):
        X = [row[:] for row in WORKED["X"]]
        answer = {"X": X, "Q1": WORKED["heads"][0]["Q"]}
        self.assertEqual(self.verdict(answer), "right")
        X[0][1] = None
        self.assertEqual(self.verdict(answer), "incomplete")

    def test_a_wrong_answer_says_its_blanks(self):
        output = [row[:] for row in WORKED["output"]]
        output[0][0], output[1][1] = 99, None
        answer = self.report(self.write("answer.json", {"Y": output}))[0]
        self.assertTrue(answer["message"].startswith(
            "Wrong: the first wrong step is Output projection Y; blank entries: 1."), answer["message"])
        page = run("check", "worked", self.folder / "answer.json").stdout.decode()
        self.assertNotIn("NaN", page)
        self.assertIn("–", page)

    def test_what_was_placed_is_rounded_once(self):
        """A blank in what only moves leaves the next step as exact as it is."""
        three = lambda rows: [[round(x, 3) for x in row] for row in rows]
        answer = {f"head{i}": three(head["head_output"]) for i, head in enumerate(WORKED["heads"], 1)}
        answer |= {"concat": three(WORKED["concat"]), "Y": three(WORKED["output"])}
        answer["concat"][0][0] = None
        self.assertEqual(self.judged(answer), "incomplete")
        answer["Y"][0][0] = round(WORKED["output"][0][0] + 0.0021, 4)  # 2 terms of half a unit, and its own
        self.assertEqual(self.judged(answer), "wrong")

    def judged(self, answer):
        result = run("check", "worked", self.write("answer.json", answer), "--format", "json")
        return json.loads(result.stdout)["answers"][0]["verdict"]

    def test_minus_infinity_as_it_is_printed(self):
        masked = [["−∞" if x == "-inf" else x for x in row] for row in CAUSAL["heads"][0]["masked"]]
        self.assertEqual(self.verdict({"M1": masked}, problem="causal"), "right")
        masked[0][1] = "-∞"
        self.assertEqual(self.verdict({"M1": masked}, problem="causal"), "right")
        masked[0][1] = "∞"
        self.assertEqual(self.verdict({"M1": masked}, problem="causal"), "wrong")

    def test_a_blank_beside_wrong_numbers_is_no_nan(self):
        for name, entry, wrong in (("A1", None, 0.3), ("A1", "1/2", 0.3), ("Q1", None, 7), ("S1", None, 7), ("Z1", None, 7)):
            rows, cols = (3, 2) if name == "Q1" else (3, 3)
            matrix = [[wrong + i + 2 * j for j in range(cols)] for i in range(rows)]
            matrix[0][0] = entry
            page = run("check", "worked", self.write("a.json", {name: matrix})).stdout.decode()
            self.assertIn("no known mistake", page)
            self.assertNotIn("NaN", page, (name, entry))
        thirds = run("check", "worked", self.write("a.json", {"A1": [[None, .3, .3], [.1, .2, .7], [.5, .2, .3]]})).stdout
        self.assertNotIn(b"sum", thirds)  # the rows that are filled in sum to 1


class OtherMasks(InFolder):
    def test_a_pattern_that_no_mistake_makes_names_its_keys(self):
        head = CAUSAL["heads"][0]
        M = [[x if x != "-inf" else x for x in row] for row in head["masked"]]
        n = len(M)
        M[0][n - 1], M[n - 1][0] = 1.5, "-inf"
        page = run("check", "causal", self.write("a.json", {"M1": M})).stdout.decode()
        for words in (f"row 1: key {n} should be hidden", f"row {n}: key 1 should be visible", "no known mistake"):
            self.assertIn(words, " ".join(page.split()))
        for words in ("slip", "overflow"):
            self.assertNotIn(words, page)
        self.assertNotIn(b"overflow", run("check", "causal", self.write("a.json", {"M1": [["-inf"] * n] * n})).stdout)

    def test_weights_that_leak_name_their_keys(self):
        A = [list(row) for row in CAUSAL["heads"][0]["weights"]]
        A[1][2:], A[1][1] = [0.125] + A[1][3:], A[1][1] - 0.125
        page = run("check", "causal", self.write("a.json", {"A1": A})).stdout.decode()
        self.assertIn("row 2: key 3 should be hidden", " ".join(page.split()))


class Slopes(InFolder):
    def test_alibi_with_exponents_one_off_in_any_number_of_heads(self):
        rng = np.random.default_rng(3)
        slopes = {3: [4, 8, 2], 6: [2, 4, 6, 8, 1, 3], 4: [2, 4, 6, 8]}  # 2^−…, as the paper has them
        steps = {3: [4, 4, 2], 6: [2, 2, 2, 2, 1, 1], 4: [2, 2, 2, 2]}
        for h, exponents in slopes.items():
            X, W = rng.uniform(-1, 1, (4, 3)).round(1), rng.uniform(-1, 1, (h, 3, 3, 2)).round(1)
            problem = self.write("problem.json", {
                "X": X.tolist(), "mask": "alibi", "W_O": "identity",
                "heads": [{f"W_{w}": W[i, j].tolist() for j, w in enumerate("QKV")} for i in range(h)]})
            far = np.abs(np.arange(4)[:, None] - np.arange(4))
            for by in (-1, 0, 1):
                M = {f"M{i + 1}": ((X @ W[i, 0]) @ (X @ W[i, 1]).T / 2 ** 0.5
                                   - 2.0 ** -(exponents[i] + by * steps[h][i]) * far).tolist() for i in range(h)}
                found = self.report(self.write("answer.json", M), problem=problem)[0]
                self.assertEqual((found["verdict"], found["mistakes"]),
                                 ("wrong", ["alibi_slopes"]) if by else ("right", []), (h, by))


class OtherParts(InFolder):
    """An MLP with ReLU behind a norm with a large eps, in NumPy."""

    X = np.array([[1.0, -2.0], [0.5, 0.25], [3.0, 1.0]])
    W_1 = np.array([[1.0, -1.0, 0.5], [0.5, 2.0, -1.0]])

    def problem(self):
        return self.write("problem.json", {
            "X": self.X.tolist(), "heads": [{"W_Q": [[1], [0]], "W_K": [[0], [1]], "W_V": [[1], [1]]}], "W_O": [[1, 2]],
            "norm": {"kind": "layer", "eps": 0.1}, "residual": True,
            "mlp": {"W_1": self.W_1.tolist(), "activation": "relu", "W_2": [[1, 0], [0, 1], [1, 1]]}})

    def test_gelu_for_relu(self):
        hidden = np.array(json.loads(run("run", self.problem(), "--format", "json").stdout)["hidden"])
        gelu = [[0.5 * x * (1 + math.erf(x / math.sqrt(2))) for x in row] for row in hidden]
        wrong = self.report(self.write("answer.json", {"H": hidden.tolist(), "U": gelu}), problem=self.problem())[0]
        self.assertEqual((wrong["first_wrong"]["step"], wrong["mistakes"]), ("activated", ["gelu_for_other"]))

    def test_a_norm_without_eps(self):
        away = self.X - self.X.mean(1, keepdims=True)
        norm = away / np.sqrt((away ** 2).mean(1, keepdims=True))
        wrong = self.report(self.write("answer.json", {"N": norm.round(3).tolist()}), problem=self.problem())[0]
        self.assertEqual(wrong["first_wrong"]["step"], "norm")
        self.assertIn("norm_eps_forgotten", wrong["mistakes"])


class Names(InFolder):
    def test_names_of_other_texts(self):
        head = WORKED["heads"][0]
        answer = {"Q_head1": head["Q"], "attn1": head["weights"], "out1": head["head_output"],
                  "concat_heads": WORKED["concat"], "H2": WORKED["heads"][1]["head_output"]}
        given = self.report(self.write("answer.json", answer))[0]
        self.assertEqual((given["verdict"], given["given"]), ("right", 5))

    def test_names_as_pages_print_them(self):
        one, two = WORKED["heads"]
        answer = {"Q⁽¹⁾": one["Q"], "A⁽²⁾": two["weights"], "Ｋ１": one["K"], "head⁽¹⁾": one["head_output"],
                  "P1": one["weights"], "Head2": two["head_output"], "MultiHead": WORKED["output"]}
        given = self.report(self.write("answer.json", answer))[0]
        self.assertEqual((given["verdict"], given["given"]), ("right", 7))

    def test_lower_case_where_it_means_one_thing(self):
        head = WORKED["heads"][0]
        answer = {"q1": head["Q"], "k1": head["K"], "v_1": head["V"], "s1": head["scores"], "a1": head["weights"],
                  "y": WORKED["output"], "z1": head["head_output"]}
        given = self.report(self.write("answer.json", answer))[0]
        self.assertEqual((given["verdict"], given["given"]), ("right", 6))
        page = run("check", "worked", self.folder / "answer.json").stdout.decode()
        self.assertIn('"z1" names no step and was passed over. Did you mean "Z1"?', page)

    def test_a_head_that_is_not_there(self):
        heads = WORKED["heads"]
        for answer in ({"A1": heads[0]["weights"], "A9": heads[1]["weights"]},
                       {"heads": [{"head": i, "weights": heads[0]["weights"]} for i in (1, 9)]}):
            page = run("check", "worked", self.write("answer.json", answer)).stdout.decode()
            told = " ".join(page.split())
            self.assertIn("head 1: right; head 2: not given; head 9: wrong here: no such head", told)
            steps = self.report(self.folder / "answer.json")[0]["steps"]
            self.assertEqual([step["head"] for step in steps if step["step"] == "weights"], [1, 2, 9])
            self.assertIn("没有这个头", run("check", "worked", self.folder / "answer.json", "--lang", "zh").stdout.decode())

    def test_what_was_expected_is_said(self):
        for answer, words in (({"q": [[1]]}, 'Did you mean "Q"?'),
                              (json.loads(run("examples", "worked").stdout), "this is a problem")):
            result = run("check", "worked", self.write("answer.json", answer))
            self.assertEqual(result.returncode, 2)
            self.assertIn(words, result.stderr.decode())
            self.assertIn('{"A1": …, "Y": …}', result.stderr.decode())
        page = run("check", "worked", self.write("z.json", {"Z1": WORKED["heads"][0]["head_output"]})).stdout.decode()
        self.assertIn("a head's output is head1", page)

    def test_x_alone_is_nobodys_work(self):
        self.assertEqual(self.verdict({"X": WORKED["X"]}), "unusable")

    def test_hints_speak_of_earlier_steps_only_where_some_were_given(self):
        wrong = {"Z1": [[9, 9, 9]] * 3}
        before = "What was given before it is right."
        for answer, said in ((wrong, False), ({"S1": WORKED["heads"][0]["scores"], **wrong}, True)):
            page = run("check", "worked", self.write("answer.json", answer), "--hint", "1").stdout.decode()
            self.assertEqual(before in page, said)


class OtherShapes(InFolder):
    def test_what_follows_from_a_matrix_of_another_shape_is_not_wrong_again(self):
        values = [np.hstack([np.array(head["V"]), [[2], [2], [2]]]) for head in WORKED["heads"]]
        outputs = [np.array(head["weights"]) @ V for head, V in zip(WORKED["heads"], values)]
        answer = {f"V{i}": V.tolist() for i, V in enumerate(values, 1)}
        answer |= {f"head{i}": output.tolist() for i, output in enumerate(outputs, 1)}
        concat = np.hstack(outputs)
        report = self.report(self.write("answer.json", answer | {"concat": concat.tolist(), "Y": WORKED["output"]}))[0]
        found = {(step["step"], step["head"]): step["verdict"] for step in report["steps"]}
        self.assertEqual([found["V", 1], found["V", 2], found["head_output", 1], found["concat", None], found["output", None]],
                         ["wrong", "wrong", "following", "following", "right"])
        concat[0, 0] += 1
        report = self.report(self.write("answer.json", answer | {"concat": concat.tolist()}))[0]
        self.assertEqual([step["verdict"] for step in report["steps"] if step["step"] == "concat"], ["wrong"])

    def test_what_does_not_fit_together_is_only_wrong(self):
        for name, rows, columns in (("X", 2, 4), ("Q", 3, 3), ("K", 5, 2), ("S", 3, 5), ("A", 2, 2), ("head", 1, 1), ("V", 1, 1)):
            answer = {f"{name}{head}": np.ones((rows, columns)).tolist() for head in (1, 2)}
            answer = {"X": answer["X1"]} if name == "X" else answer
            report = self.report(self.write("answer.json", answer | {"Y": [[1, 2]], "concat": [[1]]}))[0]
            self.assertEqual(report["verdict"], "wrong", name)


if __name__ == "__main__":
    unittest.main()
