"""`mha check`, `compare` and `mistakes` on stacks: right work of every kind is right, and every mistake is told with its
layer, whatever the layers behind it make of it. The answers come from numpy_blocks.py."""

import json
import tempfile
import unittest
from pathlib import Path

import numpy as np
from jsonschema import Draft202012Validator

from mha import SOURCE, run
from numpy_blocks import MISTAKES, CannotBeMade, block, flat_answer, random_stack, stack

CASES = SOURCE / "tests" / "cases"
KINDS = [("pre", "pre"), ("post", "post"), ("gated", "gated")]


class Stacks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def put(self, name, content):
        path = self.folder / name
        path.write_text(json.dumps(content))
        return str(path)

    def check(self, problem, answer, *options):
        """The report of one answer, and the exit code."""
        result = run("check", self.put("p.json", problem), answer if isinstance(answer, str) else self.put("a.json", answer),
                     "--format", "json", *options)
        self.assertIn(result.returncode, (0, 1), result.stderr.decode())
        return json.loads(result.stdout)["answers"][0]

    def page(self, problem, answer, *options, language="en"):
        result = run("check", self.put("p.json", problem), self.put("a.json", answer), "--lang", language, *options)
        return result.stdout.decode()

    def verdicts(self, report, layer):
        return {step["verdict"] for step in report["steps"] if step.get("layer") == layer}

    def test_every_case_of_a_block_or_a_stack_is_right(self):
        for case in sorted(CASES.glob("block_*")) + sorted(CASES.glob("layers_*")):
            result = run("check", str(case / "problem.json"), str(case / "trace.json"), "--require", "all")
            self.assertEqual(result.returncode, 0, result.stdout.decode() + result.stderr.decode())

    def test_right_work_is_right_however_it_is_written(self):
        for seed, kinds in enumerate(KINDS):
            problem = random_stack(seed, kinds)
            for decimals, keep in ((None, lambda x: x), (4, lambda x: x), (3, lambda x: np.round(x, 3))):
                layers, final = stack(problem, keep=keep)
                report = self.check(problem, flat_answer(layers, final, decimals), "--require", "all")
                self.assertEqual((report["verdict"], report["score"]), ("right", 1), (kinds, decimals, report["message"]))
                self.assertEqual(report["given"], report["of"])
                last = flat_answer([{}, {"A1": layers[1]["A1"], "R'": layers[1]["R'"]}], None, decimals)
                report = self.check(problem, last)
                self.assertEqual((report["verdict"], report["given"]), ("right", 2), (kinds, decimals, report["message"]))

    def test_each_mistake_is_told_with_its_layer(self):
        told = set()
        for seed, kinds in enumerate(KINDS):
            problem = random_stack(seed + 20, kinds)
            for mistake in MISTAKES + ["no_scale"]:
                for place in (0, 1):
                    try:
                        layers, final = stack(problem, {place: mistake})
                    except CannotBeMade:
                        continue
                    for decimals in (None, 6):
                        report = self.check(problem, flat_answer(layers, final, decimals))
                        about = (kinds, mistake, place + 1, decimals, report["first_wrong"], report["message"])
                        self.assertEqual(report["first_wrong"]["layer"], place + 1, about)
                        self.assertIn(mistake.split(",")[0], report["mistakes"], about)
                        other = self.verdicts(report, 2 - place)
                        self.assertIn("following" if place == 0 else "right", other, about)
                        self.assertLessEqual(other, {"following", "right", "not_given"} if place == 0 else {"right"}, about)
                        told.add(mistake)
        self.assertEqual(told, set(MISTAKES + ["no_scale"]))

    def test_who_has_the_true_numbers_behind_a_mistake_is_right_there(self):
        problem = random_stack(1, ("pre", "pre"))
        wrong, _ = stack(problem, {0: "residual_forgotten"})
        right, final = stack(problem)
        report = self.check(problem, flat_answer([wrong[0], right[1]], final))
        self.assertEqual(report["first_wrong"]["layer"], 1)
        self.assertEqual(self.verdicts(report, 2), {"right"})

    def test_a_slip_is_carried_into_the_next_layer(self):
        problem = random_stack(2, ("pre", "gated"))
        layers, _ = stack(problem)
        layers[0]["R'"][1, 2] += 1  # copied wrongly, and worked with
        x, second = block(layers[0]["R'"], problem["layers"][1])
        report = self.check(problem, flat_answer([layers[0], second]))
        self.assertEqual(report["first_wrong"], {"layer": 1, "step": "mlp_residual", "head": None})
        self.assertEqual(self.verdicts(report, 2), {"following"})
        wrong = [{"R'": layers[0]["R'"]}, dict(second, A1=second["A1"].T)]
        self.assertEqual([step["verdict"] for step in self.check(problem, flat_answer(wrong))["steps"]
                          if step["step"] == "weights"], ["not_given"] * 2 + ["wrong", "following"])

    def test_a_mistake_in_steps_that_were_not_handed_in_is_carried_too(self):
        problem = random_stack(3, ("pre", "pre"))
        layers, final = stack(problem, {0: "no_scale"})
        part = [{"A1": layers[0]["A1"], "A2": layers[0]["A2"]}, layers[1]]
        report = self.check(problem, flat_answer(part, final))
        self.assertEqual((report["mistakes"], report["first_wrong"]["layer"]), (["no_scale"], 1))
        self.assertEqual(self.verdicts(report, 2), {"following"})

    def test_a_mistake_of_both_layers_is_told_once(self):
        problem = random_stack(4, ("pre", "pre"))
        layers, final = stack(problem, {0: "norm_over_tokens", 1: "norm_over_tokens"})
        report = self.check(problem, flat_answer(layers, final))
        self.assertEqual(report["mistakes"], ["norm_over_tokens"])
        self.assertEqual([(step["layer"], step["step"]) for step in report["steps"] if step["verdict"] == "wrong"],
                         [(layer, norm) for layer in (1, 2) for norm in ("norm", "mlp_norm")])
        page = self.page(problem, flat_answer(layers, final))
        self.assertEqual(page.count("each column was normalised, over the tokens"), 1)
        self.assertIn("the same mistake as in layer 1", page)
        self.assertIn("与第 1 层的错误相同", self.page(problem, flat_answer(layers, final), language="zh"))

    def last_alone(self, problem, wrong):
        layers, _ = stack(problem, wrong)
        last = list(layers[-1])[-1]
        return {f"layer{len(layers)}.{last}": layers[-1][last].tolist()}

    def test_a_mistake_before_the_only_layer_that_is_given(self):
        for seed, wrong in enumerate(({0: "norm_over_tokens"}, {0: "residual_forgotten"}, {0: "no_scale"}, {1: "no_scale"})):
            problem = random_stack(seed, ("pre", "gated", "pre")[:2 + (1 in wrong)], final=False)
            answer = self.last_alone(problem, wrong)
            report = self.check(problem, answer)
            self.assertEqual(report["mistakes"][0], next(iter(wrong.values())), wrong)
            text = " ".join(self.page(problem, answer).split())
            self.assertIn(f"in layer {next(iter(wrong)) + 1}, of which nothing is given: ", text)
        self.assertIn("在第 2 层（没有给出任何一步）：", self.page(problem, answer, language="zh"))

    def test_mistakes_in_two_layers_of_which_the_last_alone_is_given(self):
        for seed, (first, last) in enumerate((("no_scale", "no_scale"), ("activation_missing", "residual_forgotten"))):
            problem = random_stack(seed, ("pre", "pre"), final=False)
            answer = self.last_alone(problem, {0: first, 1: last})
            report = self.check(problem, answer)
            self.assertEqual(sorted(report["mistakes"]), sorted({first, last}))
            self.assertEqual((report["first_wrong"]["layer"], report["verdict"]), (2, "wrong"))
            text = " ".join(self.page(problem, answer).split())
            self.assertIn("two mistakes together: ", text)
            self.assertIn("— and in layer 1, of which nothing is given: ", text)

    def test_a_layer_that_reads_what_an_earlier_one_gives(self):
        problem = random_stack(3, ("pre", "pre", "pre"), final=False)
        layers, _ = stack(problem)
        for read, detail in ((None, None), (0, "X_1")):
            X = problem["X"] if read is None else layers[read]["R'"].tolist()
            again, _ = stack({"X": X, "layers": problem["layers"][2:]})
            answer = flat_answer([layers[0], layers[1], again[0]], None, 6)
            report = self.check(problem, answer)
            self.assertEqual((report["first_wrong"]["layer"], report["mistakes"]), (3, ["layer_reads_x"]))
            self.assertEqual("layer_reads_x; X_1" in self.page(problem, answer), detail is not None)

    def test_the_page_has_a_section_for_each_layer(self):
        problem = random_stack(5, ("post", "post"))
        layers, final = stack(problem, {1: "norm_eps_outside"})
        page = self.page(problem, flat_answer(layers, final))
        for part in ("Layer 1 of 2", "Layer 2 of 2", "first wrong step is Normalisation N (layer 2).", "Final normalisation"):
            self.assertIn(part, page)
        self.assertIn("最先出错的一步是第 2 层的“归一化”N。", self.page(problem, flat_answer(layers, final), language="zh"))
        self.assertIn("Normalisation (layer 2)", self.page(problem, flat_answer(layers, final), "--hint", "1"))

    def test_a_norm_behind_its_sublayer_is_wrong_only_after_what_is_before_it(self):
        """First in the order of the computation, not of the names."""
        problem = random_stack(6, ("post", "post"), final=False)
        layers, _ = stack(problem)
        layers[0]["N"][0, 0] += 1
        layers[0]["A1"] = layers[0]["A1"][::-1]
        report = self.check(problem, flat_answer(layers))
        self.assertEqual(report["first_wrong"]["step"], "weights")
        names = [step["step"] for step in report["steps"] if step.get("layer") == 1]
        self.assertLess(names.index("residual"), names.index("norm"))
        self.assertLess(names.index("mlp_residual"), names.index("mlp_norm"))
        self.assertLess(names.index("norm"), names.index("hidden"))

    def test_what_is_missing_counts_in_every_layer(self):
        problem = random_stack(7, ("pre", "pre"), final=False)
        layers, _ = stack(problem)
        report = self.check(problem, flat_answer(layers[:1]), "--require", "all")
        self.assertEqual((report["verdict"], report["score"]), ("incomplete", 0.5))
        self.assertEqual(report["given"] * 2, report["of"])
        self.assertIn("not given: layer 2: Normalisation, Queries", report["message"])
        self.assertIn("not given: layer 2: ", self.page(problem, flat_answer(layers[:1]), "--require", "output"))

    def test_every_way_of_writing_an_answer_down(self):
        problem = random_stack(8, ("pre", "gated"))
        layers, final = stack(problem)
        wrong = dict(layers[1], A2=layers[1]["A2"].T)
        steps = {"N": "norm", "Y": "output", "R": "residual"}
        nested = {"layers": [{"layer": 2, "heads": [{"head": 2, "weights": wrong["A2"].tolist()}],
                              **{steps[name]: wrong[name].tolist() for name in steps}},
                             {"layer": 1, "heads": [{"weights": layers[0]["A1"].tolist()}]}],
                  "final_norm": final.tolist()}
        np.savez(self.folder / "a.npz", **{"layers.2.heads.2.weights": wrong["A2"], "layers.1.heads.1.weights": layers[0]["A1"],
                                           "layer2.Y": wrong["Y"], "layers.2.norm": wrong["N"], "final_norm": final,
                                           "layers.2.residual": wrong["R"]})
        for answer in (nested, str(self.folder / "a.npz")):
            report = self.check(problem, answer)
            self.assertEqual(report["first_wrong"], {"layer": 2, "step": "weights", "head": 2})
            self.assertEqual(report["given"], 6)
        np.save(self.folder / "y.npy", wrong["A2"])
        report = self.check(problem, str(self.folder / "y.npy"), "--as", "layer2.A2")
        self.assertEqual(report["first_wrong"], {"layer": 2, "step": "weights", "head": 2})

    def test_a_matrix_of_no_layer_or_of_one_that_is_not_there_is_passed_over(self):
        problem = random_stack(9, ("pre", "pre"))
        layers, final = stack(problem)
        answer = flat_answer(layers, final)
        page = self.page(problem, answer | {"Y": answer["layer2.Y"], "layer3.Y": answer["layer2.Y"]})
        self.assertIn("output of which layer? Write layer1.output", page)
        self.assertIn("this problem has no layer 3", page)
        one = dict(problem["layers"][0], X=problem["X"])
        self.assertIn("this problem has no layer 2", self.page(one, answer))

    def test_a_class_and_a_table(self):
        problem = random_stack(10, ("pre", "pre"))
        lines = []
        for name, mistakes in (("a", {}), ("b", {1: "no_scale"}), ("c", {1: "no_scale"}), ("d", {0: "norm_eps_outside"})):
            lines.append(json.dumps({"name": name} | flat_answer(*stack(problem, mistakes))))
        (self.folder / "class.jsonl").write_text("\n".join(lines))
        arguments = ("check", self.put("p.json", problem), str(self.folder / "class.jsonl"))
        table = run(*arguments, "--format", "csv").stdout.decode().splitlines()
        self.assertIn("layer2.scaled", table[2].split(","))
        self.assertIn("layer1.norm", table[4].split(","))
        summary = json.loads(run(*arguments, "--format", "json").stdout)["summary"]
        self.assertEqual(summary["steps"], [{"layer": 1, "step": "norm", "first_wrong": 1},
                                            {"layer": 2, "step": "scaled", "first_wrong": 2}])
        self.assertIn("layer2.Z", run(*arguments, "--summary", "--lang", "en").stdout.decode())

    def test_a_mistake_made_in_a_layer_beside_the_right_work(self):
        problem = random_stack(11, ("pre", "gated"))
        path = self.put("p.json", problem)
        right, _ = stack(problem)
        for options, made in (((), [0]), (("--layers", "2"), [1]), (("--layers", "1,2"), [0, 1])):
            wrong, final = stack(problem, {place: "no_scale" for place in made})
            told = json.loads(run("compare", path, "--mistake", "no_scale", *options, "--format", "json").stdout)["steps"]
            first = next(step for step in told if not step["equal"])
            self.assertEqual((first["layer"], first["step"]), (made[0] + 1, "scaled"))
            names = {"scaled": "Z", "weights": "A", "output": "Y", "mlp_residual": "R'"}
            for step in told:
                name = names.get(step["step"], "-") + str(step.get("head", ""))
                if name in right[step.get("layer", 1) - 1] and not step["equal"]:
                    for side, layers in (("left", right), ("right", wrong)):
                        np.testing.assert_allclose(step[side], layers[step["layer"] - 1][name], rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(told[-1]["right"], final, rtol=1e-9, atol=1e-12)
            self.assertNotIn("layer", told[-1])
        page = run("compare", path, "--mistake", "no_scale", "--layers", "2", "--lang", "en").stdout.decode()
        self.assertIn("with no_scale (layer 2)", " ".join(page.split()))
        self.assertLess(page.index("Layer 1 of 2"), page.index("Scaled scores"))
        refused = run("compare", path, "--mistake", "gate_exchanged", "--layers", "1,2")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("it cannot be made on", refused.stderr.decode())
        page = run("compare", path, "--mistake", "gate_exchanged", "--lang", "en").stdout.decode()
        self.assertIn("with gate_exchanged (layer 2)", " ".join(page.split()))

    def test_two_stacks_and_a_layer_alone(self):
        problem = random_stack(12, ("pre", "pre"), final=False)
        path = self.put("p.json", problem)
        one = self.put("one.json", dict(problem, layers=problem["layers"][:1]))
        told = json.loads(run("compare", path, one, "--format", "json").stdout)["steps"]
        self.assertEqual({step["layer"] for step in told if not step["equal"]}, {2})
        self.assertTrue(all("right" not in step for step in told if step.get("layer") == 2))
        page = run("compare", path, one, "--layers", "1", "--lang", "en").stdout.decode()
        self.assertNotIn("Layer 2 of 2", page)
        self.assertIn("there is no layer 3", run("compare", path, one, "--layers", "3").stderr.decode())

    def test_what_each_layer_can_show(self):
        path = self.put("p.json", random_stack(13, ("pre", "gated")))
        page = run("mistakes", path, "--lang", "en").stdout.decode()
        first, second = page.split("Layer 2 of 2")
        self.assertIn("gate_exchanged", second.split("cannot be made here")[0])
        self.assertIn("gate_exchanged", first.split("cannot be made here")[1])
        self.assertNotIn("Layer 1 of 2", run("mistakes", path, "--layers", "2", "--lang", "en").stdout.decode())

    def test_what_the_schema_of_answers_allows_can_be_read_and_nothing_else(self):
        schema = json.loads(run("schema", "answer").stdout)
        Draft202012Validator.check_schema(schema)
        answers = Draft202012Validator(schema)
        problem = random_stack(14, ("pre", "post"))
        layers, final = stack(problem)
        right = [json.loads((case / "trace.json").read_text()) for case in sorted(CASES.iterdir())]
        right += [flat_answer(layers, final), {"layer1.A1": [[0.5, None], ["-inf", 1]]}, {"layer1.A1": [["−0,5", "?"]], "X2": [["", 1]]}, {"layer2.R'": None, "N*": [[1]]},
                  {"layers": [{"layer": 2, "heads": [{"head": 2, "A": [[1]]}], "R′": [[1]]}]}, {"A": [[[1]], [[2]]]}]
        for answer in right:
            self.assertTrue(answers.is_valid(answer), next(answers.iter_errors(answer), None))
        for answer in right[-5:]:
            self.assertNotIn(b"expected", run("check", self.put("p.json", problem), self.put("a.json", answer)).stderr)
        for answer in ({}, [], {"layer2.A1": 3}, {"A1": [[{"x": 1}]]}, {"heads": 5}, {"layers": [{"layer": 0, "N": [[1]]}]},
                       {"layers": {"N": [[1]]}}, {"packed": {"Q": "x"}, "Y": [[1]]}, {"heads": [{"head": 1, "weights": 1}]}):
            self.assertFalse(answers.is_valid(answer), answer)
            self.assertEqual(run("check", self.put("p.json", problem), self.put("a.json", answer)).returncode, 2, answer)


if __name__ == "__main__":
    unittest.main()
