"""Blocks and stacks on the real binary: golden numbers, layers chosen and named, entries explained down through the layers."""

import json
import tempfile
import unittest

import numpy

from mha import SOURCE, run

CASES = SOURCE / "tests" / "cases"
TWICE = [[3.682, 4.505, 3.280, 4.907], [3.257, 4.747, 3.477, 4.526], [3.537, 4.582, 3.332, 4.787]]
FIRST_R = [[2.701, 2.595, 3.600, 3.695], [1.034, 4.723, 2.232, 2.525], [2.315, 3.639, 2.035, 2.919]]
SECOND_Y = [[5.553, 7.519, 5.650, 7.422], [4.670, 8.311, 4.784, 8.197], [5.064, 7.954, 5.177, 7.840]]


def output(*arguments, **options):
    result = run(*arguments, **options)
    if result.returncode != 0:
        raise AssertionError(f"mha {arguments}: exit {result.returncode}: {result.stderr.decode()}")
    return result.stdout.decode()


def trace(*arguments):
    return json.loads(output("run", *arguments, "--format", "json"))


def refusal(*arguments):
    result = run(*arguments)
    assert result.returncode == 2, result
    return result.stderr.decode().strip()


class Blocks(unittest.TestCase):
    def assert_near(self, actual, expected):
        self.assertLess(numpy.max(numpy.abs(numpy.array(actual) - numpy.array(expected))), 6e-4)

    def test_the_worked_layer_twice(self):
        layers = trace("worked_twice")["layers"]
        self.assert_near(layers[1]["output"], TWICE)
        layers = trace(CASES / "layers_worked_residual" / "problem.json")["layers"]
        self.assert_near(layers[0]["residual"], FIRST_R)
        self.assert_near(layers[1]["output"], SECOND_Y)
        page = output("run", "worked_twice", "--lang", "en")
        self.assertIn("3.682 4.505 3.280 4.907", page)
        self.assertIn("Layer 2 of 2 · Head 1 of 2", page)
        self.assertIn("X₁ → X₂", page)

    def test_layers_and_steps_are_chosen(self):
        chosen = trace("stack", "--layers", "2", "--steps", "weights")
        self.assertEqual([layer["layer"] for layer in chosen["layers"]], [2])
        self.assertEqual(list(chosen["layers"][0]), ["layer", "heads"])
        self.assertEqual([layer["layer"] for layer in trace("stack", "--layers", "1-2", "--index-base", "0")["layers"]], [2, 3])
        self.assertNotIn("layers", trace(CASES / "layers_three_blocks" / "problem.json", "--steps", "final_norm"))
        self.assertIn("there is no layer 4 here", refusal("run", "stack", "--layers", "4"))
        page = output("run", "stack", "--layers", "3", "--steps", "weights", "--lang", "en")
        self.assertIn("Layer 3 of 3", page)
        self.assertNotIn("Layer 2 of 3", page)

    def test_binary_files_name_the_layers(self):
        problem = CASES / "layers_three_blocks" / "problem.json"
        with tempfile.TemporaryDirectory() as folder:
            output("run", problem, "--with-weights", "-o", f"{folder}/t.npz")
            arrays, whole = dict(numpy.load(f"{folder}/t.npz")), trace(problem)
        numpy.testing.assert_array_equal(arrays["layers.2.heads.1.weights"], whole["layers"][1]["heads"][0]["weights"])
        numpy.testing.assert_array_equal(arrays["final_norm"], whole["final_norm"])
        given = json.loads(problem.read_text())["layers"][0]
        numpy.testing.assert_array_equal(arrays["layers.1.parameters.mlp.W_1"], given["mlp"]["W_1"])
        numpy.testing.assert_array_equal(arrays["layers.1.parameters.norm.gamma"], given["norm"]["gamma"])

    def test_every_entry_of_every_layer_is_explained(self):
        problem = CASES / "layers_three_blocks" / "problem.json"
        whole = trace(problem)
        symbols = {"norm": "N", "residual": "R", "mlp_norm": "N'", "hidden": "H", "activated": "U", "mlp": "F",
                   "mlp_residual": "R'", "output": "Y"}
        for layer in whole["layers"]:
            entries = {f"layer{layer['layer']}.{symbol}[*,*]": layer[step] for step, symbol in symbols.items()}
            entries |= {f"layer{layer['layer']}.A{head['head']}[*,*]": head["weights"] for head in layer["heads"]}
            for entry, matrix in entries.items():
                told = json.loads(output("explain", problem, entry, "--format", "json"))["entries"]
                values = [value for row in matrix for value in row]
                self.assertEqual([one["value"] for one in told], values, entry)
                self.assertEqual({one["layer"] for one in told}, {layer["layer"]})
        told = json.loads(output("explain", problem, "final_norm[*,*]", "--format", "json"))["entries"]
        self.assertEqual([one["value"] for one in told], [value for row in whole["final_norm"] for value in row])

    def test_an_explanation_goes_down_through_the_layers(self):
        page = output("explain", "worked_twice", "layer2.Q1[1,1]", "--depth", "all", "--lang", "en")
        for part in ("layer2.Q⁽¹⁾[1,1]", "X₁[1,1]·W_Q⁽¹⁾[1,1]", "layer1.Y[1,1]", "layer1.A⁽¹⁾[1,1]"):
            self.assertIn(part, page)

    def test_an_entry_without_its_layer_is_asked_for_it(self):
        self.assertIn("of which layer? Write layer1.Y[1,1]", refusal("explain", "worked_twice", "Y[1,1]"))
        self.assertIn("there is no layer 3", refusal("explain", "worked_twice", "layer3.Y[1,1]"))
        self.assertIn("there is no layer 2", refusal("explain", "block", "layer2.Y[1,1]"))
        self.assertIn("this problem has no step 'gate'", refusal("explain", "block", "G[1,1]"))

    def test_a_norm_tells_its_mean_and_its_variance(self):
        page = output("explain", "block", "N[1,4]", "--lang", "en")
        self.assertIn("(X[1,4] − mean) / √(variance + 1e-05) × γ[4] + β[4]", page)
        self.assertIn("mean 1.000 and variance 0.500 of this row", page)
        self.assertIn("本行均值 1.000，方差 0.500", output("explain", "block", "N[1,4]", "--lang", "zh"))


if __name__ == "__main__":
    unittest.main()
