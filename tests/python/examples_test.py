# What the built-in problems promise in their descriptions, from the numbers that come out.
import functools
import json
import math
import unittest

from mha import run


def output(*arguments):
    return run(*arguments).stdout.decode()


@functools.cache
def trace(name):
    return json.loads(output("run", name, "--format", "json"))


# example, head, row, columns, weight of each, tolerance; counted from 1.
WEIGHTS = [
    ("worked", 2, 1, [1], 0.85, 5e-3),
    ("bag_zh", 1, 7, [5], 0.80, 5e-4),
    ("bag_zh", 1, 7, [3], 0.10, 5e-4),
    ("bag_zh", 1, 7, [1, 2, 4, 6, 7, 8, 9], 0.1 / 7, 5e-4),
    ("bag_zh", 2, 7, [4], 0.50, 5e-4),
    ("bag_zh", 2, 7, [3, 5], 0.20, 5e-4),
    ("bag_zh", 2, 7, [1, 2, 6, 7, 8, 9], 0.1 / 6, 5e-4),
    ("bag_zh", 3, 7, [8], 0.70, 5e-4),
    ("bag_zh", 3, 7, [9], 0.20, 5e-4),
    ("bag_zh", 3, 7, [1, 2, 3, 4, 5, 6, 7], 0.1 / 7, 5e-4),
    ("bag_zh", 4, 7, [1], 0.40, 5e-4),
    ("bag_zh", 4, 7, [2], 0.30, 5e-4),
    ("bag_zh", 4, 7, [4], 0.20, 5e-4),
    ("bag_zh", 4, 7, [3, 5, 6, 7, 8, 9], 0.1 / 6, 5e-4),
    ("bag_one_head_zh", 1, 7, [5], 0.70, 5e-4),
    ("bag_one_head_zh", 1, 7, [3], 0.15, 5e-4),
    ("bag_one_head_zh", 1, 7, [1], 0.05, 5e-4),
    ("bag_one_head_zh", 1, 7, [2, 4, 6, 7, 8, 9], 0.1 / 6, 5e-4),
    ("animal", 1, 6, [2], 0.9, 0.1),
    ("animal", 2, 6, [4], 0.9, 0.1),
    ("verb_zh", 1, 2, [1], 0.9, 0.1),
    ("verb_zh", 2, 2, [4], 0.9, 0.1),
    ("verb_one_head_zh", 1, 2, [1, 4], 0.45, 5e-3),
    *[("gift_zh", head, 7, [column], 0.886, 5e-4) for head, column in ((1, 4), (2, 6), (3, 8))],
    *[("gift_zh", head, row, [column], 0.886, 5e-4) for head, row, column in ((1, 4, 1), (3, 8, 3), (1, 2, 1), (3, 2, 3))],
    ("gift_one_head_zh", 1, 7, [4, 6, 8], 0.286, 5e-4),
    ("induction", 1, 4, [2], 0.975, 0.025),
    ("cross", 1, 1, [1], 0.95, 0.05),
    ("cross", 1, 2, [3], 0.95, 0.05),
    ("cross", 1, 3, [2], 0.95, 0.05),
    ("causal", 1, 1, [1], 1, 0),
    ("causal", 2, 1, [2, 3, 4], 0, 0),
]

PENCIL = ["worked", "linear", "packed", "batch", "causal", "grouped", "torch", "rotary", "padding", "cached", "gated"]


def matrices(value):
    """The matrices of a step, whether or not there is a batch."""
    return value if isinstance(value[0][0], list) else [value]


class Examples(unittest.TestCase):
    def test_promised_weights(self):
        for name, head, row, columns, weight, tolerance in WEIGHTS:
            for column in columns:
                with self.subTest(example=name, head=head, row=row, column=column):
                    found = trace(name)["heads"][head - 1]["weights"][row - 1][column - 1]
                    self.assertLessEqual(abs(found - weight), tolerance)

    def test_labels_of_the_promised_rows(self):
        bag = trace("bag_zh")["config"]["token_labels"]
        self.assertEqual(bag, "小明 把 苹果 放进 书包 因为 它 太小 了".split())
        animal = trace("animal")["config"]["token_labels"]
        self.assertEqual(animal, "The animal was tired . It lay down .".split())

    def test_one_head_of_equal_width_mixes(self):
        three, one = trace("gift_zh"), trace("gift_one_head_zh")
        self.assertEqual([three["config"][key] for key in ("heads", "d_v")], [3, 4])
        self.assertEqual([one["config"][key] for key in ("heads", "d_v")], [1, 12])
        gives = [round(number, 3) for number in three["output"][6]]
        self.assertEqual([gives[column - 1] for column in (3, 6, 12)], [.903, .886, .903])
        self.assertLess(max(gives[column - 1] for column in (4, 7, 8, 11)), .04)
        mixed = one["output"][6]
        self.assertEqual(mixed[:4] * 3, mixed)
        self.assertAlmostEqual(mixed[2], mixed[3], 12)
        told = json.loads(output("compare", "gift_zh", "--as-one-head", "--format", "json"))
        right = {step["step"]: step["right"] for step in told["steps"] if "right" in step}
        for step, expected in (("weights", one["heads"][0]["weights"]), ("output", one["output"])):
            self.assertLess(max(abs(a - b) for x, y in zip(right[step], expected) for a, b in zip(x, y)), 1e-12)

    def test_pencil_examples_do_not_saturate(self):
        for name in PENCIL:
            for head in trace(name)["heads"]:
                for matrix in matrices(head["scaled"]):
                    self.assertLessEqual(max(abs(z) for row in matrix for z in row), 4, name)

    def test_a_projection_mixes(self):
        self.assertAlmostEqual(trace("linear")["heads"][0]["Q"][0][0], 1.6, 12)

    def test_packed_columns_draw_on_all_of_x(self):
        packed = trace("packed")
        for q, x in zip(packed["packed"]["Q"], packed["X"]):
            self.assertEqual(q[0], x[1] - x[6])

    def test_grouped_heads_share_keys(self):
        heads = trace("grouped")["heads"]
        self.assertEqual([head["kv_head"] for head in heads], [1, 1, 1, 2, 2, 2])
        self.assertEqual(heads[0]["K"], heads[2]["K"])
        self.assertNotEqual(heads[0]["K"], heads[3]["K"])

    def test_caps_paddings_and_large_scores(self):
        capped = [number for head in trace("rotary")["heads"] for row in head["capped"] for number in row]
        self.assertGreater(max(map(abs, capped)), 1.5)
        self.assertLess(max(map(abs, capped)), 2)
        for head in trace("padding")["heads"]:
            self.assertEqual([row[2] for row in head["weights"][0]], [0, 0, 0])
            self.assertGreater(min(row[2] for row in head["weights"][1]), 0)
        self.assertEqual(trace("cached")["heads"][1]["masked"][0][3], "-inf")
        large = trace("large")["heads"][0]
        self.assertEqual(large["scores"], [[1025, 1023], [1023, 1025]])
        self.assertAlmostEqual(large["weights"][0][0], 1 / (1 + math.exp(-2)), 15)

    def test_one_head_can_only_average(self):
        two, one = trace("verb_zh")["output"][1], trace("verb_one_head_zh")["output"][1]
        self.assertGreater(min(two[:2]), 0.7)
        self.assertLess(max(map(abs, one)), 1e-12)

    def test_clear_roles_are_said_to_be_made(self):
        for name in (first + second for first in ("bag", "verb", "gift") for second in ("_zh", "_one_head_zh")):
            self.assertIn("set by hand", " ".join(output("run", name).split()), name)
            self.assertIn("手工设定", "".join(output("run", name, "--lang", "zh").split()), name)
        self.assertIn("set by hand", " ".join(output("run", "animal").split()))
        self.assertIn("手工设定", "".join(output("run", "animal", "--lang", "zh").split()))

    def test_each_has_title_and_description_in_both_languages(self):
        for name in output("examples").splitlines()[1:]:
            problem = json.loads(output("examples", name.split()[0]))
            self.assertEqual(sorted(problem["description"]), ["en", "zh"])
            self.assertTrue(problem["title"])


if __name__ == "__main__":
    unittest.main()
