"""`mha exercise --gradient`: key, template and sheets go back from the loss, and every mistake of the teacher's file that is
made on the way back is named where it is made; no two of them have the same numbers."""

import copy
import itertools
import json
import unittest

from exercise_test import STUDENT, TEACHER, InFolder, filled_in, names_in, read
from mha import run

BLOCK = ["--residual", "--norm", "layer", "--mlp", "5", "--bias", "--mask", "causal"]
SHEETS = [["--bias", "--mask", "causal"], BLOCK, ["--kv-heads", "1"], ["--tokens", "3", "--d-k", "3", "--d-model", "9"],
          ["--residual", "--norm", "rms", "--mlp", "4", "--layers", "2"]]
HEAD = ("layer", "id", "detail", "what", "first_wrong")


def work(mistake):
    return {name: part for name, part in mistake.items() if name not in HEAD}


class Back(InFolder):
    def report(self, folder, answer):
        return json.loads(self.check(folder, answer).stdout)["answers"][0]

    def test_the_template_filled_in_is_right(self):
        for number, arguments in enumerate(SHEETS):
            folder = self.exercise(str(number), "--gradient", *arguments)
            self.assertEqual(names_in(folder), STUDENT | TEACHER)
            template = read(folder / "answer.json")
            self.assertIn("gradients", template)
            self.assertEqual(self.report(folder, template)["verdict"], "incomplete")
            for key in ("key.json", "key_rounded.json"):
                report = self.report(folder, filled_in(template, read(folder / key)))
                self.assertEqual((report["verdict"], report["given"], report["score"]), ("right", report["of"], 1), arguments)

    def test_forward_it_is_the_same_exercise(self):
        there, back = self.exercise("there"), self.exercise("back", "--gradient")
        both = read(back / "problem.json")
        self.assertEqual(list(both["loss"]), ["half_squares"])
        self.assertEqual(both.keys() - read(there / "problem.json").keys(), {"loss"})

    def test_every_mistake_of_the_way_back_is_named(self):
        expected = {0: {"gradient_row_sum", "gradient_diagonal", "gradient_columns", "gradient_mask_ignored",
                        "gradient_scale_forgotten", "gradient_scale_twice", "gradient_ds_untransposed",
                        "gradient_a_untransposed", "gradient_wo_untransposed", "gradient_part_forgotten",
                        "gradient_heads_averaged", "gradient_weight_transposed", "gradient_bias_rows",
                        "gradient_loss_factor"},
                    1: {"gradient_norm_means", "gradient_residual_forgotten", "gradient_activation"},
                    2: {"gradient_group_sum"}, 3: {"gradient_k_transposed", "gradient_v_untransposed"}}
        for number, arguments in enumerate(SHEETS[:4]):
            folder = self.exercise(str(number), "--gradient", *arguments)
            key, named = read(folder / "key.json"), set()
            answers, made = [], [m for m in read(folder / "mistakes.json")["mistakes"] if m["id"].startswith("gradient_")]
            for mistake in made:
                answer = {name: part for name, part in key.items() if name not in ("loss", "gradients")}
                answers.append(json.dumps(answer | work(mistake)))
            (folder / "all.jsonl").write_text("\n".join(answers) + "\n")
            result = run("check", folder / "problem.json", folder / "all.jsonl", "--format", "json")
            reports = json.loads(result.stdout)["answers"]
            for mistake, report in zip(made, reports, strict=True):
                place = report["first_wrong"]["step"], mistake["id"] in report["mistakes"]
                self.assertEqual(place, (mistake["first_wrong"], True), (mistake["id"], mistake.get("detail"), report))
                named.add(mistake["id"])
            self.assertLessEqual(expected[number], named)

    def test_no_two_mistakes_give_the_same(self):
        folder = self.exercise("0", "--gradient", *BLOCK)
        made = [m for m in read(folder / "mistakes.json")["mistakes"] if m["id"].startswith("gradient_")]
        for one, other in itertools.combinations(made, 2):
            if one["id"] != other["id"]:
                self.assertNotEqual(work(one), work(other), (one["id"], other["id"]))

    def test_a_stack(self):
        folder = self.exercise("deep", "--gradient", *SHEETS[4])
        key = read(folder / "key.json")
        answer = {name: part for name, part in key.items() if name != "loss"}
        answer["gradients"] = copy.deepcopy(answer["gradients"])
        head = answer["gradients"]["layers"][0]["heads"][1]
        head["weights"][0][0] += 0.1
        first = self.report(folder, answer)["first_wrong"]
        self.assertEqual((first["layer"], first["step"], first["head"]), (1, "dweights", 2))
        self.assertEqual(len(read(folder / "answer.json")["gradients"]["layers"]), 2)

    def test_the_sheet_goes_back(self):
        folder = self.exercise("en", "--gradient", *BLOCK)
        sheet = (folder / "worksheet.txt").read_text(encoding="utf-8")
        parts = ["Loss   L = ½ Σ (R′ − T)²", "Head 1 of 3", "R′ = R + F", "Gradient of the residual sum of the MLP",
                 "dR′ = R′ − T", "dZ⁽¹⁾ = dM⁽¹⁾", "dS⁽¹⁾ = ", "Gradients of the parameters", "dW_Q⁽¹⁾ = Nᵀ · dQ⁽¹⁾"]
        places = [sheet.index(part) for part in parts]
        self.assertEqual(places, sorted(places))
        self.assertNotIn("nan", sheet)
        chinese = (self.exercise("zh", "--gradient", *BLOCK, "--lang", "zh") / "worksheet.txt").read_text(encoding="utf-8")
        for part in ("的梯度", "损失", "参数的梯度"):
            self.assertIn(part, chinese)


if __name__ == "__main__":
    unittest.main()
