"""mha inspect on the real binary: every number beside an independent computation in NumPy, and what is said of them."""

import itertools
import json
import math
import tempfile
import unittest
from pathlib import Path

import numpy as np
from jsonschema import Draft202012Validator

from mha import SOURCE, run
from numpy_attention import Attention
from random_problems import FEATURES, INF, problems

CASES = SOURCE / "tests" / "cases"
TWO_HEADS = {"X": [[1, 0], [0, 1]], "W_O": [[1, 0], [0, 1], [1, 1], [0, 1]], "heads": [
    {"W_Q": [[1, 2], [3, 4]], "W_K": [[1, 0], [0, 1]], "W_V": [[1, 0], [0, 1]]},
    {"W_Q": [[1, 2], [3, 4]], "W_K": [[1, 0], [0, 1]], "W_V": [[1, 0], [0, 1]]}]}
WITHOUT_HEAD_1 = [[.898, 1.798, 1.798, .898], [.802, 1, 1, .802], [.716, 1.436, 1.436, .716]]


def output(*arguments, **options):
    result = run(*arguments, **options)
    assert result.returncode == 0, (arguments, result.stderr.decode())
    return result.stdout.decode()


def told(*arguments, **options):
    return json.loads(output("inspect", *arguments, "--format", "json", **options))


def measures(A, heads, W_O, Y, cross, visible):
    """A, heads: b×h×n×m and b×h×n×d_v; Y: b×n×d_out; visible: of the shape of A."""
    keyed = visible.any(axis=-1)
    with np.errstate(all="ignore"):
        rows = -np.where(A > 0, A * np.log(A), 0).sum(axis=-1)
    mean = lambda numbers, where: float(numbers[where].mean()) if where.any() else None
    width = heads.shape[-1]
    W = np.eye(heads.shape[1] * width) if W_O is None else W_O
    result = []
    for i in range(A.shape[1]):
        share = heads[:, i] @ W[i * width:(i + 1) * width]
        size = np.linalg.norm(Y)
        own = {"entropy": mean(rows[:, i], keyed[:, i]), "largest_weight": mean(A[:, i].max(axis=-1), keyed[:, i]),
               "self": None, "previous": None, "first": None,
               "ablation": {"largest_change": float(abs(share).max()),
                            "relative_change": float(np.linalg.norm(share) / size) if size else None}}
        if not cross:
            own["self"] = mean(np.diagonal(A[:, i], axis1=-2, axis2=-1), keyed[:, i])
            own["previous"] = mean(np.diagonal(A[:, i, 1:], axis1=-2, axis2=-1), keyed[:, i, 1:])
            own["first"] = mean(A[:, i, :, 0], keyed[:, i])
        result.append(own)
    return result


def differences(A, visible):
    keyed = visible.any(axis=-1)
    for a, b in itertools.combinations(range(A.shape[1]), 2):
        both = keyed[:, a] & keyed[:, b]
        yield [a + 1, b + 1], float(abs(A[:, a] - A[:, b])[both].max()) if both.any() else None


class Inspect(unittest.TestCase):
    def near(self, found, expected, *where):
        if isinstance(expected, dict):
            for key, number in expected.items():
                self.near(found[key], number, key, *where)
        elif expected is None or found is None:
            self.assertEqual(found, expected, where)
        else:
            self.assertLessEqual(abs(found - expected), 1e-9 * max(1, abs(expected)), where)

    def expect_layer(self, layer, A, heads, W_O, Y, cross, visible, *where):
        for found, expected in zip(layer["heads"], measures(A, heads, W_O, Y, cross, visible), strict=True):
            self.near(found, expected, *where)
        for found, (names, expected) in zip(layer["pairs"], differences(A, visible), strict=True):
            self.assertEqual(found["heads"], names)
            self.near(found["weights_difference"], expected, "pair", *where)

    def test_the_worked_example(self):
        layer = told("worked")["problems"][0]["layers"][0]
        heads = layer["heads"]
        self.assertEqual([round(head["entropy"], 3) for head in heads], [.921, .842])
        self.assertEqual([round(head["ablation"]["largest_change"], 3) for head in heads], [1.723, 1.798])
        self.assertEqual([(pair["heads"], round(pair["weights_difference"], 3)) for pair in layer["pairs"]], [([1, 2], .447)])
        page = output("inspect", "worked")
        for text in ("0.447", "entropy 0.921 nats of at most 1.099 = ln 3", "entropy 0.842 nats", "1.723", "1.798"):
            self.assertIn(text, page)
        for row in WITHOUT_HEAD_1:
            self.assertIn("  ".join(f"{number:.3f}" for number in row), page)
        self.assertEqual(page, output("inspect"))

    def test_random_problems(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "p.json")
            for problem in problems(7, 2 * len(FEATURES)):
                file.write_text(json.dumps(problem.as_json()))
                steps = Attention(problem).compute()
                A = steps["weights"]
                visible = np.broadcast_to(problem.mask != -INF if problem.masks else True, A.shape)
                layer = told(file)["problems"][0]["layers"][0]
                if not np.isfinite(steps["output"]).all():
                    continue
                self.expect_layer(layer, A, steps["head_output"], problem.W_O, steps["output"][:, 0], problem.cross, visible,
                                  problem.feature)
                for pair in layer["pairs"]:
                    a, b = (number - 1 for number in pair["heads"])
                    same = []
                    for name in "QKV":
                        own_a, own_b = ((a, b) if name == "Q" else (i * problem.g // problem.h for i in (a, b)))
                        biases = [problem.b[name][i] for i in (own_a, own_b)]
                        if np.array_equal(problem.W[name][own_a], problem.W[name][own_b]) and \
                                (biases[0] is None or np.array_equal(*biases)):
                            same.append(f"W_{name}")
                    self.assertEqual(pair["same_projections"], same, problem.feature)

    def test_blocks_and_stacks(self):
        for case in sorted(CASES.glob("block_*")) + sorted(CASES.glob("layers_*")):
            problem = json.loads((case / "problem.json").read_text())
            trace = json.loads((case / "trace.json").read_text())
            steps, layers = trace.get("layers", [trace]), problem.get("layers", [problem])
            found = told(case / "problem.json")["problems"][0]["layers"]
            self.assertEqual([layer["layer"] for layer in found], list(range(1, len(layers) + 1)))
            for layer, own, weights in zip(found, steps, layers, strict=True):
                A, heads = (np.array([[head[name] for head in own["heads"]]]) for name in ("weights", "head_output"))
                visible = np.ones_like(A, bool)
                if "masked" in own["heads"][0]:
                    visible = np.array([[[[x != "-inf" for x in row] for row in head["masked"]] for head in own["heads"]]])
                W_O = np.array(weights["W_O"]) if weights["W_O"] != "identity" else None
                if problem.get("layout") == "torch" and W_O is not None:
                    W_O = W_O.T
                self.expect_layer(layer, A, heads, W_O, np.array([own["output"]]), "X_kv" in problem, visible, case.name)

    def test_over_all_is_what_every_layer_has(self):
        for names in (["stack", "worked", "causal"], ["worked", "worked_twice"], ["grouped", "grouped"], ["bag_zh", "worked"]):
            whole = told(*names)
            layers = [layer for problem in whole["problems"] for layer in problem["layers"]]
            pairs = [{tuple(pair["heads"]): pair for pair in layer["pairs"]} for layer in layers]
            common = sorted(set.intersection(*map(set, pairs)))
            self.assertEqual([tuple(pair["heads"]) for pair in whole["over_all"]["pairs"]], common)
            for pair in whole["over_all"]["pairs"]:
                own = [some[tuple(pair["heads"])] for some in pairs]
                self.assertEqual(pair["weights_difference"], max(one["weights_difference"] for one in own))
                self.assertEqual(set(pair["same_projections"]), set.intersection(*(set(one["same_projections"]) for one in own)))
            ids = [{finding["id"] for finding in layer["findings"]} for layer in layers]
            self.assertLessEqual({finding["id"] for finding in whole["over_all"]["findings"]}, set.intersection(*ids))
        page = output("inspect", "worked", "worked_twice")
        self.assertIn("In all 3 layers", page)
        self.assertIn("entropy 0.842 to", page.split("In all 3 layers")[1])

    def test_a_problem_with_its_batch_or_without(self):
        alone, batch = told("worked")["problems"][0]["layers"][0], told("padding")["problems"][0]["layers"][0]
        self.assertEqual(len(alone["heads"]), 2)
        self.assertTrue(all(head["entropy"] is not None for head in batch["heads"]))
        page = output("inspect", "padding")
        self.assertIn("of all 2 items", page)
        self.assertIn("Y without head 1, item 2", page)
        both = output("inspect", "worked", "worked_twice", "padding")
        self.assertEqual([both.count("Means over all rows"), both.count("of all 2 items")], [2, 1])

    def findings(self, problem):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "p.json")
            file.write_text(json.dumps(problem))
            layer = told(file)["problems"][0]["layers"][0]
            return layer, {finding["id"]: finding["text"] for finding in layer["findings"]}, run("run", file)

    def test_copies_are_told_and_run_warns(self):
        layer, ids, ran = self.findings(TWO_HEADS)
        self.assertEqual(layer["pairs"], [{"heads": [1, 2], "weights_difference": 0, "same_projections": ["W_Q", "W_K", "W_V"]}])
        self.assertIn("Heads 1, 2 have the same W_Q, W_K, W_V", ids["projections_same"])
        self.assertIn("Heads 1, 2 have the same weights: largest difference 0", ids["maps_equal"])
        self.assertNotIn("maps_differ", ids)
        self.assertIn(b"heads 1\xe2\x80\x932 have the same W_Q, W_K and W_V", ran.stderr)
        other = json.loads(json.dumps(TWO_HEADS))
        other["heads"][1]["W_V"] = [[1, 0], [0, 2]]
        layer, ids, ran = self.findings(other)
        self.assertEqual(layer["pairs"][0]["same_projections"], ["W_Q", "W_K"])
        self.assertIn("maps_equal", ids)
        self.assertEqual(ran.stderr, b"")  # equal maps, not equal projections
        other["heads"][1]["W_Q"] = [[1, 2], [3, 5]]
        layer, ids, ran = self.findings(other)
        self.assertIn("maps_differ", ids)
        for where, number in (("b_Q", [0, 1]), ("b_V", [1, 0])):
            biased = json.loads(json.dumps(TWO_HEADS))
            biased["heads"][0][where], biased["heads"][1][where] = [0, 0], number
            self.assertEqual(self.findings(biased)[2].stderr, b"", where)

    def test_copies_in_every_form_of_weights(self):
        rng = np.random.default_rng(3)
        for torch, packed, grouped in itertools.product((False, True), repeat=3):
            turned = lambda W: (W.T if torch else W).tolist()
            Q = [rng.normal(size=(4, 2)) for _ in range(4)]
            Q[3] = Q[2] if grouped else Q[1]
            KV = [rng.normal(size=(4, 2)) for _ in range(2 if grouped else 4)]
            if not grouped:
                KV[3] = KV[1]
            problem = {"X": rng.normal(size=(3, 4)).tolist(), "W_O": "identity", "layout": "torch" if torch else "x@W"}
            if packed:
                problem |= {"num_heads": 4, "num_kv_heads": len(KV), "W_Q": turned(np.concatenate(Q, axis=1)),
                            "W_K": turned(np.concatenate(KV, axis=1)), "W_V": turned(np.concatenate(KV, axis=1))}
            elif grouped:
                problem |= {"heads": [{"W_Q": turned(W)} for W in Q], "kv_heads": [{"W_K": turned(W), "W_V": turned(W)} for W in KV]}
            else:
                problem |= {"heads": [{"W_Q": turned(q), "W_K": turned(k), "W_V": turned(k)} for q, k in zip(Q, KV)]}
            layer, ids, ran = self.findings(problem)
            whole = [pair["heads"] for pair in layer["pairs"] if len(pair["same_projections"]) == 3]
            self.assertEqual(whole, [[3, 4]] if grouped else [[2, 4]], (torch, packed, grouped))
            self.assertIn("heads 3–4 have" if grouped else "heads 2, 4 have", ran.stderr.decode())
            self.assertIn("output_identity", ids)

    def test_structure_and_places(self):
        part = json.loads(json.dumps(TWO_HEADS))
        part["W_O"] = [[1, 0], [0, 1], [.001, 0], [0, .002]]
        _, ids, _ = self.findings(part)
        self.assertIn("head 2 are nearly 0: at most 0.002", ids["output_part_small"])
        self.assertIn("h·d_v = 2·2 = 4 columns meet 4 rows of W_O, whose result is 2 wide: d_model is 2", ids["concat_fits"])
        self.assertIn("W_O is not the identity", self.findings(dict(part, W_O=np.eye(4)[::-1].tolist()))[1]["output_not_identity"])
        far = {"X": np.eye(4).tolist(), "W_O": "identity", "scale": "none", "heads": [
            {"W_Q": np.eye(4).tolist(), "W_K": (50 * np.roll(np.eye(4), -1, axis=0)).tolist(), "W_V": np.eye(4).tolist()}],
            "mask": "causal"}
        _, ids, _ = self.findings(far)
        self.assertIn("looks mostly at the previous token", ids["looks_at"])

    def test_a_head_looks_mostly_at_one_thing(self):
        """Of the worked example's head 2 the token itself and the first token both have more than half, as row 1 is in both."""
        head = told("worked")["problems"][0]["layers"][0]["heads"][1]
        self.assertTrue(head["first"] > head["self"] > .5)
        page = output("inspect", "worked")
        self.assertIn("Head 2 looks mostly at the first token: mean weight 0.608", page)
        self.assertNotIn("Head 2 looks mostly at the token itself", page)

    def test_causal_rows_have_fewer_keys_to_spread_over(self):
        most = sum(math.log(i + 1) for i in range(4)) / 4
        self.assertIn(f"nats of at most {most:.3f}.", output("inspect", "causal").replace("\n", " "))

    def test_rows_without_a_key(self):
        layer = told(CASES / "mask_row_without_key" / "problem.json")["problems"][0]["layers"][0]
        self.assertTrue(all(head["entropy"] is not None for head in layer["heads"]))
        none = dict(TWO_HEADS, mask={"block": [[1, 1], [1, 1]]})
        layer, ids, _ = self.findings(none)
        self.assertEqual([layer["heads"][0][key] for key in ("entropy", "self", "previous", "first")], [None] * 4)
        self.assertIsNone(layer["heads"][0]["ablation"]["relative_change"])
        self.assertIsNone(layer["pairs"][0]["weights_difference"])
        self.assertNotIn("maps_equal", ids)

    def test_rows_without_a_key_are_warned_of_wherever_a_problem_is_computed(self):
        name = CASES / "mask_row_without_key" / "problem.json"
        said = run("run", name).stderr.decode()
        self.assertRegex(said, r"^mha: query \d .*may attend to no key")
        for command in (["inspect", name], ["mistakes", name], ["explain", name, "Y[1,1]"], ["compare", name, "--mistake", "no_scale"]):
            self.assertEqual(run(*command).stderr.decode(), said, command)
        for command in ("inspect", "compare"):
            self.assertEqual(run(command, name, "worked").stderr.decode(), said.replace("mha: ", f"mha: {name}: "))

    def test_what_is_no_number_is_told_so(self):
        huge = dict(TWO_HEADS, X=[[1e200, 1e200], [1e200, 0]])
        layer, ids, _ = self.findings(huge)
        for head in layer["heads"]:
            self.assertEqual([head[key] for key in ("entropy", "largest_weight", "self", "first")], [None] * 4)
            self.assertEqual(head["ablation"], {"largest_change": None, "relative_change": None})
        self.assertIsNone(layer["pairs"][0]["weights_difference"])
        self.assertIn("The weights of head 2 are not a number.", ids["not_a_number"])
        self.assertFalse({"maps_equal", "maps_differ", "spread"} & set(ids))
        schema = Draft202012Validator(json.loads(output("schema", "inspect")))
        schema.validate(told("-", input=json.dumps(huge).encode()))

    def test_the_files_pass_their_schema(self):
        schema = json.loads(output("schema", "inspect"))
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema)
        for name in output("examples").splitlines()[1:]:
            for language in ("en", "zh"):
                validator.validate(told(name.split()[0], "--lang", language))
        validator.validate(told("worked", "stack"))
        self.assertFalse(validator.is_valid(told("worked") | {"more": 1}))
        self.assertEqual(told("worked"), told("worked", "--index-base", "0"))
        untitled = told("-", input=json.dumps(TWO_HEADS).encode())
        self.assertEqual(untitled["problems"][0]["title"], "-")

    def test_usage(self):
        for arguments, word in ((["worke"], "worked"), (["-", "-"], "standard input"), (["worked", "--heads", "1"], "--heads")):
            result = run("inspect", *arguments, input=b"")
            self.assertEqual((result.returncode, result.stdout), (2, b""))
            self.assertIn(word, result.stderr.decode())
        self.assertIn("How far head 0 spreads", output("inspect", "worked", "--index-base", "0"))

    def test_nothing_is_left_out_of_one_head(self):
        one = {"X": [[1], [2]], "W_O": [[1]], "heads": [{"W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}]}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "p.json")
            file.write_text(json.dumps(one))
            page = " ".join(output("inspect", file).split())
            self.assertIn("h·d_v = 1·1 = 1 column meets 1 row of W_O", page)
            self.assertIn("It is the only head: none can be left out.", page)
            for word in ("relative", "Y without head", "what is lost"):
                self.assertNotIn(word, page)
            self.assertEqual(told(file)["problems"][0]["layers"][0]["heads"][0]["ablation"]["relative_change"], 1)

    def test_large_results_without_a_head_only_when_asked(self):
        self.assertNotIn("Y without head", output("inspect", "bag_zh"))
        self.assertIn("Y without head 4", output("inspect", "bag_zh", "--full"))
        self.assertIn("Y without head 2", output("inspect", "worked"))

    def said_of(self, problem, language="en"):
        text = json.dumps(problem).encode()
        layer = told("-", "--lang", language, input=text)["problems"][0]["layers"][0]
        return {finding["id"]: finding["text"] for finding in layer["findings"]}

    def test_heads_whose_loss_is_the_same_are_told_together(self):
        twins = TWO_HEADS | {"W_O": [[1, 0], [0, 1]] * 2}
        self.assertIn("Most is lost, and equally much, without each of heads 1, 2: ", self.said_of(twins)["ablation"])
        self.assertIn("去掉头 1、2 中的任何一个，同样损失最大：", self.said_of(twins, "zh")["ablation"])
        self.assertRegex(self.said_of(TWO_HEADS)["ablation"], r"^Most is lost without head [12]: ")
        self.assertRegex(self.said_of(TWO_HEADS, "zh")["ablation"], r"^去掉头 [12] 损失最大：")

    def test_of_groups_is_spoken_where_there_are_groups(self):
        self.assertTrue(self.said_of(TWO_HEADS)["projections_same"].endswith("It is a copy: what starts and is trained alike stays alike."))
        shared = TWO_HEADS | {"heads": [{"W_Q": [[1, 2], [3, 4]]}, {"W_Q": [[1, 2], [3, 5]]}], "kv_heads": [
            {"W_K": [[1, 0], [0, 1]], "W_V": [[1, 0], [0, 1]]}]}
        self.assertIn("Heads 1, 2 have the same W_K, W_V. Groups share keys and values on purpose", self.said_of(shared)["projections_same"])


if __name__ == "__main__":
    unittest.main()
