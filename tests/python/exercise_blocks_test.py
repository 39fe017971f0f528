"""`mha exercise` for blocks and stacks: the key against NumPy, the template filled in, and every mistake of the teacher's file
handed in and named with its layer."""

import json
import unittest

import numpy as np

from exercise_test import STUDENT, TEACHER, InFolder, filled_in, names_in, read
from mha import run
from numpy_blocks import flat_answer, normalised, stack

STACK = ["--residual", "--norm", "layer", "--mlp", "6", "--layers", "2"]
SHEETS = [STACK, ["--residual", "--norm", "rms", "--norm-place", "post", "--mlp", "5", "--gate", "--bias", "--mask", "causal"],
          ["--norm", "layer", "--bias"], ["--mlp", "4", "--bias", "--difficulty", "hard"],
          [*STACK, "--norm-place", "post", "--bias", "--difficulty", "easy", "--seed", "4"],
          [*STACK, "--difficulty", "hard"], ["--norm", "rms", "--difficulty", "hard"]]


class Blocks(InFolder):
    def report(self, folder, answer):
        return json.loads(self.check(folder, answer).stdout)["answers"][0]

    def test_the_key_is_what_numpy_says(self):
        for arguments in (STACK, [*STACK, "--norm-place", "post", "--bias"], [*STACK, "--gate", "--mask", "causal"],
                          [*STACK, "--gate", "--difficulty", "hard"]):
            folder = self.exercise("-".join(arguments), *arguments)
            self.assertEqual(names_in(folder), STUDENT | TEACHER)
            problem, hard = read(folder / "problem.json"), "hard" in arguments
            layers, final = stack(problem)
            self.assertEqual({layer["mlp"]["activation"] for layer in problem["layers"]}, {"silu" if hard else "relu"})
            self.assertEqual("final_norm" in problem, hard)
            if hard:
                np.testing.assert_allclose(read(folder / "key.json")["final_norm"], final, rtol=0, atol=1e-12)
            names = {"norm": "N", "concat": "concat", "output": "Y", "residual": "R", "mlp_norm": "N'", "gate": "G",
                     "hidden": "H", "activated": "U", "mlp": "F", "mlp_residual": "R'"}
            for key, steps in zip(read(folder / "key.json")["layers"], layers):
                self.assertEqual(len(set(key) - {"layer", "heads"}), len([name for name in steps if name in names.values()]))
                for step, name in names.items():
                    if step in key:
                        np.testing.assert_allclose(key[step], steps[name], rtol=0, atol=1e-12)
                for head in key["heads"]:
                    np.testing.assert_allclose(head["weights"], steps[f"A{head['head']}"], rtol=0, atol=1e-12)

    def test_four_layers_without_residual_sums(self):
        for seed in range(1, 7):
            problem = read(self.exercise(str(seed), "--layers", "4", "--seed", str(seed)) / "problem.json")
            self.assertEqual(len(problem["layers"]), 4)

    def test_a_final_norm_left_out_is_found(self):
        folder = self.exercise("f", *STACK, "--difficulty", "hard")
        wrong = [m for m in read(folder / "mistakes.json")["mistakes"] if m["first_wrong"] == "final_norm"]
        self.assertEqual({mistake["layer"] for mistake in wrong}, {2})
        self.assertIn("norm_gamma_forgotten", {mistake["id"] for mistake in wrong})

    def test_the_template_filled_in_is_right(self):
        for number, arguments in enumerate(SHEETS):
            folder = self.exercise(str(number), *arguments)
            template = read(folder / "answer.json")
            self.assertEqual(self.report(folder, template)["verdict"], "incomplete")
            for key in ("key.json", "key_rounded.json"):
                report = self.report(folder, filled_in(template, read(folder / key)))
                self.assertEqual((report["verdict"], report["given"]), ("right", report["of"]), arguments)

    def test_every_mistake_of_the_teachers_file_is_found_in_its_layer(self):
        for arguments in (STACK, [*SHEETS[1], "--layers", "2"]):
            folder = self.exercise("-".join(arguments), *arguments)
            key, told = read(folder / "key.json"), set()
            for mistake in read(folder / "mistakes.json")["mistakes"]:
                layer = {name: part for name, part in mistake.items()
                         if name not in ("layer", "id", "detail", "what", "first_wrong")}
                wrong = {"layers": [*key["layers"][:mistake["layer"] - 1], dict(layer, layer=mistake["layer"])]}
                first = self.report(folder, wrong)["first_wrong"]
                self.assertEqual((first["layer"], first["step"]), (mistake["layer"], mistake["first_wrong"]), mistake["id"])
                told.add((mistake["layer"], mistake["id"]))
            for place in (1, 2):
                self.assertLess({(place, "norm_missing"), (place, "residual_forgotten"), (place, "mlp_bias_forgotten")}
                                if "--bias" in arguments else {(place, "activation_missing")}, told)

    def test_what_a_student_did_wrong_is_named(self):
        folder = self.exercise("a", *STACK)
        problem = read(folder / "problem.json")
        for mistake in ("norm_missing", "norm_place_exchanged", "norm_variance_of_sample", "norm_over_tokens",
                        "norm_gamma_forgotten", "residual_forgotten", "residual_of_other", "activation_missing", "no_scale"):
            for place in (0, 1):
                layers, _ = stack(problem, {place: mistake}, keep=lambda numbers: np.round(numbers, 3))
                report = self.report(folder, flat_answer(layers, decimals=3))
                self.assertEqual(report["first_wrong"]["layer"], place + 1, mistake)
                self.assertIn(mistake, report["mistakes"])

    def test_the_sheet_has_its_layers(self):
        folder = self.exercise("en", *STACK, "--bias")
        sheet = (folder / "worksheet.txt").read_text(encoding="utf-8")
        parts = ["Layer 1 of 2 · X₀ → X₁", "Layer 1 of 2 · Before the heads", "N = layernorm(X₀) ∘ γ + β",
                 "Layer 1 of 2 · Head 1 of 3", "Layer 1 of 2 · All heads together", "R = X₀ + Y", "each token by itself",
                 "H = N′ · W_1 + b_1", "this is X₁, which layer 2 reads", "Layer 2 of 2 · X₁ → X₂", "layernorm(X₁)"]
        places = [sheet.index(part) for part in parts]
        self.assertEqual(places, sorted(places))
        self.assertIn("## Layer 2 of 2", (folder / "worksheet.md").read_text(encoding="utf-8").replace("###", "##"))
        chinese = (self.exercise("zh", *STACK, "--lang", "zh") / "worksheet.txt").read_text(encoding="utf-8")
        for part in ("第 2 层（共 2 层） · X₁ → X₂", "进入各头之前", "这就是 X₁，由第 2 层读取"):
            self.assertIn(part, chinese)

    def test_minus_infinity_is_spoken_of_where_it_may_stand(self):
        for mask in ("none", "causal"):
            for language, added, said in (("en", "entry by entry", "anything plus −∞"), ("zh", "逐个元素相加", "任何数加 −∞")):
                folder = self.exercise(f"{mask}-{language}", *STACK, "--mask", mask, "--lang", language)
                sheet = (folder / "worksheet.txt").read_text(encoding="utf-8")
                self.assertEqual((sheet.count(added), sheet.count(said)), (2, 1) if mask == "causal" else (1, 0))

    def test_the_sheet_says_how_norms_and_activations_are_computed(self):
        said = {"layer": ("(x − mean) / √(variance + 1e-05)", "(x − 均值) / √(方差 + 1e-05)"),
                "rms": ("x / √(mean square + 1e-05)", "x / √(均方 + 1e-05)")}
        for norm in said:
            for place, language in enumerate(("en", "zh")):
                folder = self.exercise(f"{norm}-{language}", "--norm", norm, "--mlp", "4", "--gate", "--difficulty", "hard",
                                       "--lang", language)
                for name in ("worksheet.txt", "worksheet.md"):
                    sheet = "".join((folder / name).read_text(encoding="utf-8").replace("\\", "").split())
                    texts = {kind: both[place].replace(" ", "") for kind, both in said.items()}
                    self.assertEqual([kind for kind, text in texts.items() if text in sheet], [norm], name)
                    self.assertEqual("variance" in sheet or "方差" in sheet, norm == "layer")
                    self.assertEqual(sheet.count("silu(x)=x/(1+e^(−x))"), 1, name)
        folder = self.exercise("relu", "--mlp", "4", "--gradient")
        sheet = (folder / "worksheet.txt").read_text(encoding="utf-8")
        self.assertIn("relu(x) = max(x, 0)\n", sheet)
        self.assertIn("relu′(x) = 1, x > 0; 0, x ≤ 0\n", sheet)
        sheet = (self.exercise("back", "--norm", "rms", "--gradient") / "worksheet.txt").read_text(encoding="utf-8")
        self.assertIn("x̂ is what the norm gave before γ and β, σ the root that it divided by", sheet)

    def test_who_takes_a_layer_norm_for_an_rms_norm_is_told(self):
        folder = self.exercise("rms", "--norm", "rms", "--difficulty", "hard")
        problem = read(folder / "problem.json")
        taken = normalised(np.array(problem["X"]), problem["norm"], "norm_mean_taken")
        report = self.report(folder, {"norm": taken.round(3).tolist()})
        self.assertEqual((report["first_wrong"]["step"], report["mistakes"]), ("norm", ["norm_mean_taken"]))

    def test_a_class(self):
        (self.folder / "names.csv").write_text("Ann\nBo\n")
        folder = self.exercise("class", *STACK, "--roster", self.folder / "names.csv")
        problem = read(folder / "Ann" / "problem.json")
        self.assertNotEqual(problem, read(folder / "Bo" / "problem.json"))
        layers, _ = stack(problem, {1: "residual_forgotten"})
        (folder / "Ann" / "answer.json").write_text(json.dumps(flat_answer(layers)))
        (folder / "Bo" / "answer.json").write_text((folder / "teacher" / "Bo" / "key_rounded.json").read_text())
        ann, bo = json.loads(run("check", folder, "--format", "json").stdout)["answers"]
        self.assertEqual((ann["first_wrong"]["layer"], ann["mistakes"]), (2, ["residual_forgotten"]))
        self.assertEqual((bo["verdict"], bo["score"]), ("right", 1))

    def test_numbers_are_small_and_the_same_again(self):
        first, again = (read(self.exercise(name, *STACK) / "problem.json") for name in ("a", "b"))
        self.assertEqual(first, again)
        for layer in first["layers"]:
            for numbers in (layer["W_O"], layer["mlp"]["W_1"], [layer["norm"]["gamma"]], *map(list, layer["heads"][0].values())):
                self.assertTrue(np.all(np.array(numbers) * 2 == np.round(np.array(numbers) * 2)))
                self.assertLessEqual(np.abs(np.array(numbers)).max(), 2)

    def test_what_does_not_go_together(self):
        self.assertIn("--gate is that of an MLP", self.refused(2, "--gate", "-o", self.folder / "x"))
        self.assertIn("give --norm layer or rms", self.refused(2, "--norm-place", "post", "-o", self.folder / "x"))
        self.assertIn("--norm 'batch'", self.refused(2, "--norm", "batch", "-o", self.folder / "x"))
        self.assertIn("--layers '0'", self.refused(2, "--layers", "0", "-o", self.folder / "x"))
        self.exercise("flat", "--d-model", "1", "--heads", "1", "--norm", "layer", "--mlp", "2")  # each row is normalised to 0


if __name__ == "__main__":
    unittest.main()
