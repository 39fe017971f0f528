"""What mha check says of small answers that people have really handed in; each stands for a kind. The inputs are in
tests/reports. To run the rows that are known to be judged unfairly as well: MHA_UNFAIR=1."""

import json
import os
import unittest
from dataclasses import dataclass, field

from mha import SOURCE, run

FOLDER = SOURCE / "tests" / "reports"

# Answers that mha judges unfairly today, and why. They are skipped; whoever mends one takes its name away.
KNOWN_UNFAIR = {}


@dataclass
class Row:
    done: str            # what was done
    problem: str
    answer: str
    verdict: str
    first: tuple = None  # step, head
    named: tuple = ()    # mistakes that must be among those named
    not_named: tuple = ()
    steps: dict = field(default_factory=dict)  # step: what its verdict may be in every head
    said: tuple = ()     # on the page
    not_said: tuple = ()


FOLLOWS = {"following", "right"}
ROWS = [
    Row("divided by √d_model, which is not √(h·d_k)", "w1b", "w1b_a", "wrong", ("scaled", 1), ("scale_sqrt_dmodel",),
        ("scale_sqrt_all_heads",)),
    Row("divided by √(h·d_k), which is not √d_model", "w1c", "w1c_a", "wrong", ("scaled", 1), ("scale_sqrt_all_heads",),
        ("scale_sqrt_dmodel",), not_said=("by √d_model",)),
    Row("every masked score −1e9, and the softmax of that", "w2", "w2_a", "wrong", ("masked", 1),
        steps={"masked": {"wrong"}, "weights": FOLLOWS}),
    Row("−10000 in place of −∞", "w3", "w3_a", "right", not_named=("mask_fill_weak",)),
    Row("−10000 added in place of −∞", "w3", "w3_bert", "right", not_named=("mask_fill_weak",)),
    Row("−65504 added in place of −∞", "w3", "w3_fp16", "right", not_named=("mask_fill_weak",)),
    Row("X·W where weights are stored out×in", "w4", "w4_a", "wrong", ("Q", 1), ("weights_transposed_q",),
        said=("X·W_Qᵀ",), not_said=("it is X·W_Q, not", "the product is X·W ")),
    Row("one item of a batch of two", "w5", "w5_a", "wrong", ("Q", 1), said=("1×2×1", "2×2×1")),
    Row("three items of a batch of two", "w5", "w5_b", "wrong", ("Q", 1), said=("3×2×1", "2×2×1")),
    Row("no batch where there is one", "w5", "w5_c", "wrong", ("Q", 1), said=("2×2×1",)),
    Row("a row of K left out, and worked on with that", "w5x", "w5x_a", "wrong", ("K", 1),
        steps={"K": {"wrong"}, "scores": FOLLOWS, "scaled": FOLLOWS, "weights": FOLLOWS, "head_output": FOLLOWS}),
    Row("a window one key too long", "w6", "w6_a", "wrong", ("masked", 1), ("window_off_by_one",),
        said=("row 3: key 1 should be hidden", "row 4: key 2 should be hidden")),
    Row("the other item's padding", "w6p", "w6p_b", "wrong", ("masked", 1), ("padding_other_item",),
        said=("item 1, rows 1, 2: key 2 should be visible", "item 2, rows 1, 2: key 2 should be hidden"),
        not_said=("overflow",)),
    Row("Q from W_K, K right", "w7", "w7_q", "wrong", ("Q", 1), ("q_from_wk",), ("swap_qk",)),
    Row("K from W_Q, V right", "w7", "w7_k", "wrong", ("K", 1), ("k_from_wq",), ("one_projection",)),
    Row("−1e9 added in a row without a key, all steps", "w9", "w9_full", "right"),
    Row("−1e9 added in a row without a key, weights alone", "w9", "w9_a", "right"),
    Row("weights averaged over the heads, the true output", "worked", "w11_a", "wrong", ("weights", 1),
        ("weights_averaged",), steps={"weights": {"wrong"}, "output": {"right"}}),
    Row("weights of unscaled scores, the true output", "worked", "w11_e", "wrong", ("weights", 1), ("no_scale",),
        steps={"weights": {"wrong"}, "output": {"right"}}),
    Row("a slip in the weights, the true output", "worked", "w11_b", "wrong", ("weights", 1), steps={"output": {"right"}}),
    Row("heads folded into the batch, merged by a view", "w13", "w13_a", "wrong", ("concat", None),
        ("merge_without_transpose",)),
]


def check(row, form):
    problem = row.problem if row.problem == "worked" else FOLDER / f"{row.problem}.json"
    return run("check", problem, FOLDER / f"{row.answer}.json", "--format", form, "--lang", "en").stdout.decode()


class Reports(unittest.TestCase):
    def judge(self, row):
        report = json.loads(check(row, "json"))["answers"][0]
        self.assertEqual(report["verdict"], row.verdict, report["mistakes"])
        first = report["first_wrong"]
        self.assertEqual(first and (first["step"], first["head"]), row.first)
        self.assertLessEqual(set(row.named), set(report["mistakes"]))
        self.assertFalse(set(row.not_named) & set(report["mistakes"]), report["mistakes"])
        for step, verdicts in row.steps.items():
            found = {given["verdict"] for given in report["steps"] if given["step"] == step} - {"not_given"}
            self.assertLessEqual(found, verdicts, step)
        page = " ".join(check(row, "text").split())
        for words in row.said:
            self.assertIn(words, page)
        for words in row.not_said:
            self.assertNotIn(words, page)

    def test_every_input_is_used(self):
        used = {row.problem for row in ROWS} | {row.answer for row in ROWS}
        self.assertEqual({path.stem for path in FOLDER.glob("*.json")}, used - {"worked"})
        self.assertLessEqual(set(KNOWN_UNFAIR), used)


def test_of(row):
    def test(self):
        self.judge(row)
    test.__doc__ = row.done
    known = row.answer in KNOWN_UNFAIR and os.environ.get("MHA_UNFAIR") != "1"
    return unittest.skip(KNOWN_UNFAIR[row.answer])(test) if known else test


for each in ROWS:
    setattr(Reports, f"test_{each.answer}", test_of(each))


if __name__ == "__main__":
    unittest.main()
