"""The files that go in and come out, seen by others: an independent JSON Schema validator, Python's json, NumPy.

Every case of tests/cases and every example is run; its trace must be valid, read back, and agree with the case's own.
"""

import copy
import json
import math
import re
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

import numpy
from jsonschema import Draft202012Validator

from mha import SOURCE, run

CASES = sorted((SOURCE / "tests" / "cases").iterdir())
EXAMPLES = sorted(path.stem for path in (SOURCE / "data").glob("*.json"))
BLOCK = ["residual", "mlp_norm", "gate", "hidden", "activated", "mlp", "mlp_residual"]
STEPS = ["Q", "K", "V", "Q_rot", "K_rot", "scores", "scaled", "capped", "masked", "weights", "head_output"]

ABSENT = object()
SQUARE = [[1, 2], [3, 4]]
HEAD = {"W_Q": SQUARE, "W_K": SQUARE, "W_V": SQUARE}
BATCH = {"X": [SQUARE, SQUARE]}
CROSS = {"X_kv": [[1, 2], [3, 4], [5, 6]]}
PACKED = {"heads": ABSENT, "num_heads": 2, "W_Q": SQUARE, "W_K": SQUARE, "W_V": SQUARE}
FUSED = {"heads": ABSENT, "num_heads": 2, "W_QKV": [[1, 2, 3, 4, 5, 6], [7, 8, 9, 1, 2, 3]]}
GROUPED = {"heads": [{"W_Q": SQUARE}, {"W_Q": SQUARE}], "kv_heads": [{"W_K": SQUARE, "W_V": SQUARE}],
           "W_O": [[1, 2, 3]] * 4}
BASE = {"X": SQUARE, "heads": [HEAD], "W_O": SQUARE}

# Changes of BASE that are right, beyond what the cases have.
FORMS = [
    {"$schema": "problem.schema.json", "_note": 1, "mask": {"_why": "so", "causal": {"_how": None}}},
    {"title": {"en": "One", "zh": "一"}, "description": {"en": "Two", "zh": "二", "_fr": "deux"}, "tokens": ["a", "b"]},
    {"heads": [HEAD | {"name": "first", "b_Q": [1, 2], "b_K": [1, 2], "b_V": [1, 2], "_note": []}], "b_O": [1, 2]},
    {"scale": 0.25, "softcap": 30, "layout": "x@W"},
    {"rope": {}},
    {"rope": {"base": 500, "pairing": "interleaved", "dims": 2, "start": 4, "positions_kv": [7, 9]}},
    {"mask": "none"},
    {"mask": ["none", "causal", "alibi"]},
    {"mask": {"causal": {"align": -1}}},
    {"mask": {"window": {"left": None, "right": 0}}},
    {"mask": {"window": {"left": 1}}},
    {"mask": {"alibi": {"slopes": [0.5], "align": "top-left"}}},
    {"mask": {"padding": [1, 0]}},
    {"mask": {"allow": [[True, False], [True, True]]}},
    {"mask": {"block": [[[[0, 1]]]]}},
    {"mask": [{"add": [[0, "-inf"], [1.5, 0]]}, {"add": [[[0, 0], [0, 0]]]}, {"add": [[[["-inf", 0]]]]}]},
    CROSS | {"tokens_kv": ["a", "b", "c"], "mask": {"window": {"left": 2, "right": 2, "align": "bottom-right"}}},
    BATCH | {"tokens": [["a", "b"], ["c", "d"]], "mask": [{"padding": [[1, 0], [1, 1]]}, {"causal": {"align": [0, 1]}}]},
    BATCH | {"X_kv": [[[1, 2]], [[3, 4]]]},
    GROUPED,
    GROUPED | {"layout": "torch", "W_O": [[1, 2, 3, 4]]},
    PACKED | {"b_Q": [1, 2]},
    PACKED | {"num_kv_heads": 1, "W_K": [[1], [2]], "W_V": [[1, 2, 3], [4, 5, 6]], "W_O": [[1]] * 6},
    FUSED | {"b_QKV": [1, 2, 3, 4, 5, 6]},
    FUSED | {"W_O": "identity"},
]

# Changes of BASE that are wrong in a way that a schema can see.
WRONG = [
    {"X": ABSENT}, {"W_O": ABSENT}, {"heads": ABSENT},
    {"X": [1, 2]}, {"X": []}, {"X": [[]]},
    {"X": [["1", 2], [3, 4]]}, {"X": [[None, 2], [3, 4]]}, {"X": [[True, 2], [3, 4]]},
    {"W_q": SQUARE}, {"tokens": [1, 2]}, {"tokens": "ab"}, {"title": 5}, {"title": {"fr": "un"}},
    {"heads": []}, {"heads": [{"W_Q": SQUARE}]}, {"heads": [HEAD | {"W_0": SQUARE}]}, {"heads": [HEAD | {"name": 1}]},
    {"num_heads": 1}, PACKED | {"num_heads": 0}, PACKED | {"num_heads": 1.5}, PACKED | {"W_V": ABSENT},
    PACKED | {"W_QKV": SQUARE}, FUSED | CROSS, GROUPED | {"heads": [HEAD, HEAD]}, GROUPED | {"kv_heads": [{"W_K": SQUARE}]},
    {"W_O": "none"}, {"W_O": "identity", "b_O": [1, 2]}, {"b_O": [[1, 2]]}, {"layout": "keras"},
    {"mask": "casual"}, {"mask": SQUARE}, {"mask": {}}, {"mask": {"causal": {}, "alibi": {}}},
    {"mask": {"causal": {"to": 1}}},
    {"mask": {"causal": {"align": "middle"}}}, {"mask": {"causal": {"align": 0.5}}}, {"mask": {"window": {"left": 0.5}}},
    {"mask": {"window": {}}}, {"mask": {"window": {"left": -1}}},
    {"mask": {"padding": [1, 2]}}, {"mask": {"allow": [[0.5, 1], [1, 1]]}}, {"mask": {"add": [["inf", 0], [0, 0]]}},
    {"mask": {"add": [0, 0]}}, {"mask": {"block": [[0, "-inf"], [0, 0]]}}, {"mask": {"alibi": {"slopes": 1}}},
    {"scale": "sqrt"}, {"scale": None}, {"softcap": 0}, {"softcap": "none"},
    {"rope": True}, {"rope": {"pairing": "full"}}, {"rope": {"dims": 1}}, {"rope": {"theta": 1}}, {"rope": {"base": 0}},
    {"rope": {"positions": [0.5, 1]}},
]


def changed(change):
    """BASE with this change."""
    return {key: value for key, value in (BASE | change).items() if value is not ABSENT}


def output_of(*arguments, **options):
    """What `mha ARGUMENTS…` prints when all goes well."""
    result = run(*arguments, **options)
    if result.returncode != 0:
        raise AssertionError(f"mha {' '.join(map(str, arguments))}: exit {result.returncode}: {result.stderr.decode()}")
    return result.stdout


def trace_of(problem, *options):
    return json.loads(output_of("run", problem, "--format", "json", *options))


def run_text(problem, *options):
    """Runs a problem given as an object, through standard input."""
    return run("run", "-", "--format", "json", *options, input=json.dumps(problem).encode())


def problems():
    """(what `mha run` takes, the problem as an object) for every case and example."""
    for case in CASES:
        yield case / "problem.json", json.loads((case / "problem.json").read_text())
    for name in EXAMPLES:
        yield name, json.loads(output_of("examples", name))


def matrices(trace):
    """(path, matrix or list of matrices) for every step in a trace, or in part of one."""
    for name in ("X", "norm", "concat", "output", *BLOCK, "final_norm"):
        if name in trace:
            yield name, trace[name]
    for layer in trace.get("layers", []):
        for name, value in matrices(layer):
            yield f"layer {layer['layer']} {name}", value
    for name, value in trace.get("packed", {}).items():
        yield f"packed.{name}", value
    for head in trace.get("heads", []):
        for name in STEPS:
            if name in head:
                yield f"head {head['head']} {name}", head[name]


def array_of(matrix):
    """As NumPy reads it; "-inf" is a float to it as well."""
    return numpy.array(matrix, dtype=float)


def largest_difference(actual, expected):
    """max |a − b| / max(1, |b|), where infinities must be the same."""
    a, b = array_of(actual), array_of(expected)
    if a.shape != b.shape:
        return math.inf
    finite = numpy.isfinite(b)
    if not numpy.array_equal(a[~finite], b[~finite]):
        return math.inf
    a, b = a[finite], b[finite]
    return float(numpy.max(numpy.abs(a - b) / numpy.maximum(1, numpy.abs(b)), initial=0))


def expected_shape(path, config):
    """The shape that formats.md gives to a step, without the batch."""
    if path.startswith("layer "):
        number, path = path.removeprefix("layer ").split(" ", 1)
        config = {"tokens": config["tokens"], "keys": config["tokens"], **config["layers"][int(number) - 1]}
    if "layers" in config:  # X and the final norm
        return (config["tokens"], config["d_model"])
    n, m, h, g = (config[key] for key in ("tokens", "keys", "heads", "kv_heads"))
    d_k, d_v, d_out = config["d_k"], config["d_v"], config["d_out"]
    f = config.get("mlp", {}).get("f")
    whole = {"X": (n, config["d_model"]), "concat": (n, h * d_v), "output": (n, d_out), "residual": (n, d_out),
             "norm": (n, config["d_model"]), "gate": (n, f), "hidden": (n, f), "activated": (n, f),
             **dict.fromkeys(("mlp_norm", "mlp", "mlp_residual", "final_norm"), (n, d_out)),
             "packed.Q": (n, h * d_k), "packed.K": (m, g * d_k), "packed.V": (m, g * d_v)}
    each = {"Q": (n, d_k), "K": (m, d_k), "V": (m, d_v), "Q_rot": (n, d_k), "K_rot": (m, d_k), "head_output": (n, d_v)}
    return whole.get(path) or each.get(path.split()[-1], (n, m))


def layer_rebuilt(config, parameters):
    rules = {key: config[key] for key in ("scale", "softcap", "rope", "mask", "residual", "norm_place") if key in config}
    for key in ("norm", "mlp", "mlp_norm"):
        if key in config:
            rules[key] = {name: value for name, value in config[key].items() if name not in ("f", "gate")}
            rules[key].update(parameters.pop(key, {}))
    return {**parameters, **rules}


def rebuilt(trace):
    """The problem that a trace with weights holds."""
    config = trace["config"]
    names = {"tokens": "token_labels", "tokens_kv": "key_labels"}
    labels = {key: config[name] for key, name in names.items() if name in config}
    final = {"final_norm": config["final_norm"]} if "final_norm" in config else {}
    for norm in final.values():
        norm.update(trace.get("parameters", {}).pop("final_norm", {}))
    if "layers" not in trace:
        return {"X": trace["X"], **labels, **layer_rebuilt(config, trace["parameters"]), **final}
    layers = [layer_rebuilt(rules, layer["parameters"]) for rules, layer in zip(config["layers"], trace["layers"])]
    layout = {layer.pop("layout") for layer in layers if "layout" in layer}
    return {"X": trace["X"], **labels, "layers": layers, **final, **({"layout": layout.pop()} if layout else {})}


class Schemas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schemas = {name: json.loads(output_of("schema", name)) for name in ("problem", "trace")}
        cls.problem, cls.trace = (Draft202012Validator(cls.schemas[name]) for name in ("problem", "trace"))

    def assert_valid(self, validator, instance):
        self.assertEqual([f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(instance)], [])

    def test_the_schemas_are_schemas(self):
        for schema in self.schemas.values():
            self.assertEqual(schema["$schema"], "https://json-schema.org/draft/2020-12/schema")
            Draft202012Validator.check_schema(schema)

    def test_every_problem_and_trace_is_valid(self):
        for source, problem in problems():
            with self.subTest(problem=str(source)):
                self.assert_valid(self.problem, problem)
                for options in ([], ["--dtype", "f32"], ["--round", "2"], ["--with-weights"], ["--steps", "weights"],
                                ["--steps", "packed,output"]):
                    self.assert_valid(self.trace, trace_of(source, *options))

    def test_forms_that_no_case_has(self):
        for change in FORMS:
            with self.subTest(change=change):
                problem = changed(change)
                self.assert_valid(self.problem, problem)
                result = run_text(problem, "--with-weights")
                self.assertEqual(result.returncode, 0, result.stderr.decode())
                self.assert_valid(self.trace, json.loads(result.stdout))

    def test_references_to_files_are_valid(self):
        for reference in ({"file": "w.npy"}, {"file": "w.npz", "name": "W_Q", "transpose": True},
                          {"file": "m.safetensors", "tensor": "a.b", "rows": [0, 4], "cols": [0, 2]}):
            self.assert_valid(self.problem, BASE | {"X": reference, "W_O": reference, "mask": {"add": reference}})
        self.assert_valid(self.problem, BASE | {"b_O": {"file": "b.npy", "rows": [0, 2]}})
        self.assertFalse(self.problem.is_valid(BASE | {"b_O": {"file": "b.npy", "transpose": True}}))
        self.assertFalse(self.problem.is_valid(BASE | {"X": {"file": "x.npy", "rows": [0]}}))
        self.assertFalse(self.problem.is_valid(BASE | {"X": {"name": "x"}}))

    def test_wrong_problems_are_refused_by_schema_and_program(self):
        for change in WRONG:
            with self.subTest(change=change):
                problem = changed(change)
                self.assertFalse(self.problem.is_valid(problem))
                self.assertEqual(run_text(problem).returncode, 2)

    def test_wrong_traces_are_invalid(self):
        good = trace_of("worked")
        self.assert_valid(self.trace, good)
        for path, value in (("format", "other"), ("version", 2), ("dtype", "f16"), ("rounding", -1), ("extra", 1),
                            ("config.scale", "some"), ("config.heads", 0), ("config.extra", 1), ("heads", []),
                            ("output", [1, 2]), ("output", [[1, None]]), ("output", [["-Infinity"]]), ("packed", {})):
            with self.subTest(path=path, value=value):
                wrong = copy.deepcopy(good)
                *parents, key = path.split(".")
                target = wrong
                for parent in parents:
                    target = target[parent]
                target[key] = value
                self.assertFalse(self.trace.is_valid(wrong))
        for key in ("format", "version", "device", "dtype", "rounding", "config"):
            self.assertFalse(self.trace.is_valid({name: value for name, value in good.items() if name != key}))


class Traces(unittest.TestCase):
    def assert_agrees(self, actual, expected, tolerance):
        """Same steps, and the same values within the tolerance. X is in the trace only."""
        mine, theirs = dict(matrices(actual)), dict(matrices(expected))
        mine.pop("X")
        self.assertEqual(sorted(mine), sorted(theirs))
        for path, matrix in theirs.items():
            self.assertLessEqual(largest_difference(mine[path], matrix), tolerance, path)
        for mine, theirs in zip([actual, *actual.get("layers", [])], [expected, *expected.get("layers", [])], strict=True):
            self.assertEqual([head.get("kv_head") for head in mine.get("heads", [])],
                             [head.get("kv_head") for head in theirs.get("heads", [])])

    def test_cases_agree_with_their_traces(self):
        for case in CASES:
            expected = json.loads((case / "trace.json").read_text())
            for dtype, tolerance in (("f64", 1e-12), ("f32", 3e-5)):
                with self.subTest(case=case.name, dtype=dtype):
                    self.assert_agrees(trace_of(case / "problem.json", "--dtype", dtype), expected, tolerance)

    def test_rounding_by_hand_is_exact(self):
        rounded = [path for case in CASES for path in sorted(case.glob("trace_round*.json"))]
        self.assertGreater(len(rounded), 0)
        for path in rounded:
            with self.subTest(trace=str(path)):
                decimals = path.stem.removeprefix("trace_round")
                actual = trace_of(path.parent / "problem.json", "--round", decimals)
                self.assertEqual(actual["rounding"], int(decimals))
                self.assert_agrees(actual, json.loads(path.read_text()), 0)

    def test_numpy_reads_every_matrix_in_its_shape(self):
        for source, _ in problems():
            with self.subTest(problem=str(source)):
                trace = trace_of(source)
                config = trace["config"]
                batch = () if config["batch"] is None else (config["batch"],)
                for path, matrix in matrices(trace):
                    self.assertEqual(array_of(matrix).shape, batch + expected_shape(path, config), path)

    def test_steps_stand_in_the_order_of_the_contract(self):
        names = ["format", "version", "title", "device", "dtype", "rounding", "config",
                 "X", "norm", "packed", "heads", "concat", "output", *BLOCK, "layers", "final_norm"]
        for source, _ in problems():
            trace = trace_of(source)
            self.assertEqual(list(trace), [name for name in names if name in trace])
            for layer in trace.get("layers", []):
                self.assertEqual(list(layer), [name for name in ["layer", *names] if name in layer])
            for head in trace.get("heads", []):
                self.assertEqual(list(head), [name for name in ["head", "kv_head", *STEPS] if name in head])

    def test_numbers_are_the_shortest_that_read_back(self):
        """Python's repr is the shortest form of a double, NumPy's of a float."""
        shortest = {"f64": lambda text: repr(float(text)), "f32": lambda text: str(numpy.float32(text))}
        for source, _ in problems():
            for dtype, form in shortest.items():
                text = output_of("run", source, "--format", "json", "--dtype", dtype).decode()
                steps = text[text.index('\n "X": '):]
                for number in re.findall(r"[-\d.e+]+(?=[],])", steps):
                    self.assertEqual(Decimal(number), Decimal(form(number)), f"{source} {dtype}")

    def test_two_runs_give_the_same_bytes(self):
        for source, _ in problems():
            arguments = ("run", source, "--format", "json", "--with-weights")
            self.assertEqual(output_of(*arguments), output_of(*arguments))

    def test_a_file_holds_what_stdout_shows(self):
        for name in EXAMPLES:
            with self.subTest(example=name), tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "trace.json"
                self.assertEqual(output_of("run", name, "-o", path), b"")
                self.assertEqual(path.read_bytes(), output_of("run", name, "--format", "json"))

    def test_weights_and_masks_rebuild_the_problem(self):
        for source, problem in problems():
            with self.subTest(problem=str(source)):
                trace = trace_of(source, "--with-weights")
                again = json.loads(output_of("run", "-", "--format", "json", input=json.dumps(rebuilt(trace)).encode()))
                self.assertEqual(dict(matrices(again)), dict(matrices(trace)))
                for mine, theirs in zip(trace.get("layers", [trace]), problem.get("layers", [problem]), strict=True):
                    self.assertEqual(mine["parameters"]["W_O"], theirs["W_O"])
                self.assertNotIn("parameters", trace_of(source))

    def test_the_title_is_repeated_as_given(self):
        for source, problem in problems():
            self.assertEqual(trace_of(source).get("title"), problem.get("title"))


if __name__ == "__main__":
    unittest.main()
