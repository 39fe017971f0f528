"""mha gradient on the real binary: every case's gradients, random problems against NumPy's complex step and against the
engine's own central differences, the files, gradient descent, the refusals."""

import copy
import json
import math
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

from mha import MHA, SOURCE, run
from random_problems import problems

CASES = sorted((SOURCE / "tests" / "cases").glob("gradient_*"))
# Not under the sanitizers, whose search for leaks may crash on a thread that PoCL is ending; asan.compute has the kernels there.
HAS_OPENCL = b"opencl:0" in run("devices").stdout and MHA.parent.name != "build-asan"


def case(name):
    return SOURCE / "tests" / "cases" / name / "problem.json"


def gradient(problem, *arguments):
    """The trace of a problem, or of a file."""
    if isinstance(problem, dict):
        result = run("gradient", "-", "--format", "json", *arguments, input=json.dumps(problem).encode())
    else:
        result = run("gradient", problem, "--format", "json", *arguments)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def numbers_of(tree, path=""):
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key not in ("head", "kv_head", "layer"):
                yield from numbers_of(value, f"{path}.{key}")
    elif isinstance(tree, list):
        for i, value in enumerate(tree):
            yield from numbers_of(value, f"{path}[{i}]")
    else:
        yield path, tree


def farthest(mine, theirs):
    mine, theirs = dict(numbers_of(mine)), dict(numbers_of(theirs))
    assert sorted(mine) == sorted(theirs), sorted(set(mine) ^ set(theirs))[:5]
    return max((abs(mine[path] - value) / max(1, abs(value)), path) for path, value in theirs.items())


def result_in_numpy(p, X, X_kv, W, b, W_O, b_O):
    """The result of a problem of random_problems, in whatever type the arrays have; b×n×d."""
    heads = {}
    for name, source, count in (("Q", X, p.h), ("K", X_kv, p.g), ("V", X_kv, p.g)):
        own = [source @ W[name][i] + (0 if b[name][i] is None else b[name][i]) for i in range(count)]
        heads[name] = [own[i * count // p.h] for i in range(p.h)]
    if p.rope:
        for name in "QK":
            heads[name] = [rotated(p.rope, x) for x in heads[name]]
    outputs = []
    for i in range(p.h):
        scores = heads["Q"][i] @ np.swapaxes(heads["K"][i], -1, -2)
        scores = scores * (1 if p.scale == "none" else p.scale if p.scale is not None else 1 / math.sqrt(p.d_k))
        if p.softcap:
            scores = p.softcap * np.tanh(scores / p.softcap)
        keep = np.ones(scores.shape, bool) if p.mask is None else np.broadcast_to(p.keep[:, i], scores.shape)
        if p.mask is not None:
            scores = np.where(keep, scores + np.where(np.isfinite(p.mask[:, i]), p.mask[:, i], 0), 0)
        powers = np.where(keep, np.exp(scores - np.where(keep, scores.real, -50).max(-1, keepdims=True)), 0)
        total = powers.sum(-1, keepdims=True)
        outputs.append(powers / np.where(total == 0, 1, total) @ heads["V"][i])
    concat = np.concatenate(outputs, axis=-1)
    result = concat if W_O is None else concat @ W_O
    return result if b_O is None else result + b_O


def rotated(rope, x):
    x, pairs = x.copy(), rope["dims"] // 2
    angles = (rope["start"] + np.arange(x.shape[-2]))[:, None] * rope["base"] ** (-2.0 * np.arange(pairs) / rope["dims"])
    first, second = (slice(0, pairs), slice(pairs, 2 * pairs)) if rope["pairing"] == "half" else \
        (slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2))
    a, b = x[..., first].copy(), x[..., second].copy()
    x[..., first], x[..., second] = a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)
    return x


def complex_step(p, G):
    """d(Σ G ∘ result) of X, X_kv and each parameter, exact to the last digits: Im f(x + ih) / h."""
    X_kv = p.X_kv if p.cross else p.X
    given = {"X": p.X, "X_kv": X_kv, "W_O": p.W_O, "b_O": p.b_O}
    for name in "QKV":
        for i, (W, b) in enumerate(zip(p.W[name], p.b[name])):
            given[f"W_{name}{i}"], given[f"b_{name}{i}"] = W, b

    def loss(key, at):
        arrays = {k: None if v is None else np.asarray(v, complex).copy() for k, v in given.items()}
        arrays[key][at] += 1e-30j
        if not p.cross:
            arrays["X_kv"] = arrays["X"]
        W = {name: [arrays[f"W_{name}{i}"] for i in range(len(p.W[name]))] for name in "QKV"}
        b = {name: [arrays[f"b_{name}{i}"] for i in range(len(p.b[name]))] for name in "QKV"}
        result = result_in_numpy(p, arrays["X"], arrays["X_kv"], W, b, arrays["W_O"], arrays["b_O"])
        return (G * result).sum().imag / 1e-30

    return {key: np.array([loss(key, at) for at in np.ndindex(value.shape)]).reshape(value.shape)
            for key, value in given.items() if value is not None and (p.cross or key != "X_kv")}


def parameters_of(p, trace):
    """Those of a trace by the names of complex_step."""
    own, turn = trace["gradients"]["parameters"], (lambda W: np.array(W).T) if p.torch else np.array
    found = {"X": np.array(trace["gradients"]["X"]).reshape(p.X.shape)}
    if p.cross:
        found["X_kv"] = np.array(trace["gradients"]["X_kv"]).reshape(p.X_kv.shape)
    if "W_O" in own:
        found["W_O"] = turn(own["W_O"])
    if "b_O" in own:
        found["b_O"] = np.array(own["b_O"])
    widths = {"Q": p.d_k, "K": p.d_k, "V": p.d_v}
    if p.packed == "fused":
        W, b = turn(own["W_QKV"]), np.array(own.get("b_QKV", []))
        ends = np.cumsum([0] + [len(p.W[name]) * widths[name] for name in "QKV"])
        own = {}
        for name, first, last in zip("QKV", ends, ends[1:]):
            own[f"W_{name}"] = W[:, first:last]
            if len(b):
                own[f"b_{name}"] = b[first:last]
    elif p.packed:
        own = {key: turn(value) if key[0] == "W" else np.array(value) for key, value in own.items()}
    for name in "QKV":
        for i in range(len(p.W[name])):
            if p.packed:
                columns = slice(i * widths[name], (i + 1) * widths[name])
                parts = {f"W_{name}": own[f"W_{name}"][:, columns]}
                if f"b_{name}" in own:
                    parts[f"b_{name}"] = own[f"b_{name}"][columns]
            else:
                entry = own["kv_heads" if name != "Q" and "kv_heads" in own else "heads"][i]
                parts = {key: turn(value) if key[0] == "W" else np.array(value) for key, value in entry.items()}
            for key in (f"W_{name}", f"b_{name}"):
                if key in parts:
                    found[f"{key}{i}"] = parts[key]
    return found


def block(rng, kind):
    """A block or a stack with every kind of part, small enough for central differences."""
    draw = lambda *shape: np.round(rng.normal(0, 0.7, shape), 2).tolist()
    activation = ["relu", "gelu", "gelu_tanh", "silu", "none"][kind % 5]
    norm = lambda: ({"kind": "rms", "gamma": draw(4)} if kind % 3 == 0 else
                    {"kind": "layer", "beta": draw(4)} if kind % 3 == 1 else
                    {"kind": "layer", "gamma": draw(4), "beta": draw(4), "eps": 0.01})

    def layer():
        own = {"heads": [{f"W_{name}": draw(4, 2) for name in "QKV"} for _ in range(2)], "W_O": draw(4, 4),
               "residual": True, "norm": norm(), "mlp_norm": norm(), "norm_place": "post" if kind % 2 else "pre",
               "mlp": {"W_1": draw(4, 5), "b_1": draw(5), "activation": activation, "W_2": draw(5, 4), "b_2": draw(4)}}
        if kind % 4 == 1:
            own["mlp"] |= {"W_gate": draw(4, 5), "b_gate": draw(5)}
        return own

    own = layer() if kind % 2 else {"layers": [layer(), layer()], "final_norm": norm()}
    X = draw(2, 3, 4) if kind % 5 == 2 else draw(3, 4)
    return own | {"X": X, "loss": {"mse": draw(*np.array(X).shape)}}


class Cases(unittest.TestCase):
    def assert_agrees(self, tolerance, *arguments):
        for folder in CASES:
            with self.subTest(case=folder.name):
                expected = json.loads((folder / "trace.json").read_text())
                mine = gradient(folder / "problem.json", *arguments)
                self.assertLessEqual(farthest(mine["gradients"], expected["gradients"])[0], tolerance)
                self.assertEqual("loss" in mine, expected["loss"] is not None)
                if "loss" in mine:
                    self.assertLessEqual(abs(mine["loss"] - expected["loss"]), tolerance * max(1, expected["loss"]))

    def test_f64(self):
        self.assertGreaterEqual(len(CASES), 12)
        self.assert_agrees(1e-11)

    def test_f32(self):
        self.assert_agrees(1e-4, "--dtype", "f32")

    @unittest.skipUnless(HAS_OPENCL, "no OpenCL device")
    def test_on_a_device(self):
        self.assert_agrees(1e-10, "--device", "opencl")
        self.assert_agrees(1e-3, "--device", "opencl", "--dtype", "f32")

    def test_held_against_the_cpu(self):
        for arguments in [("--dtype", "f32")] + [("--device", "opencl", "--dtype", "f32")] * HAS_OPENCL:
            for folder in CASES:
                result = run("gradient", folder / "problem.json", "--against", "cpu", *arguments)
                self.assertEqual(result.returncode, 0, result.stdout.decode())
                self.assertIn(b"\ndX ", result.stdout)

    def test_held_against_differences(self):
        for folder in CASES:
            result = run("gradient", folder / "problem.json", "--against", "difference")
            self.assertEqual(result.returncode, 0, result.stdout.decode())


class RandomProblems(unittest.TestCase):
    def test_against_the_complex_step_of_numpy(self):
        rng = np.random.default_rng(4)
        for p in problems(11, 45):
            if p.large_scores:
                continue
            with self.subTest(feature=p.feature):
                shape = (p.batch or 1, p.n, p.h * p.d_v if p.identity else p.d_out)
                G = np.round(rng.normal(0, 1, shape), 2)
                problem = p.as_json() | {"loss": {"gradient": G.tolist() if p.batch else G[0].tolist()}}
                mine, theirs = parameters_of(p, gradient(problem)), complex_step(p, G)
                self.assertEqual(sorted(mine), sorted(theirs))
                for key, value in theirs.items():
                    self.assertLessEqual(abs(mine[key] - value).max() / max(1, abs(value).max()), 1e-11, key)

    def test_blocks_and_stacks_against_differences(self):
        rng = np.random.default_rng(5)
        for kind in range(10):
            with self.subTest(kind=kind):
                problem = json.dumps(block(rng, kind)).encode()
                result = run("gradient", "-", "--against", "difference", input=problem)
                self.assertEqual(result.returncode, 0, result.stdout.decode() + result.stderr.decode())
                held = run("gradient", "-", "--against", "cpu", "--dtype", "f32", input=problem)
                self.assertEqual(held.returncode, 0, held.stdout.decode())


class Command(unittest.TestCase):
    def test_a_wrong_gradient_is_told(self):
        """relu bends where an entry is 0: central differences give half of its slope there, and the page says so."""
        problem = {"X": [[1, 1]], "heads": [{f"W_{name}": [[1], [0]] for name in "QKV"}], "W_O": [[1, -1]],
                   "mlp": {"W_1": [[1], [1]], "activation": "relu", "W_2": [[1]]}, "loss": "sum"}
        result = run("gradient", "-", "--against", "difference", input=json.dumps(problem).encode())
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"FAIL", result.stdout)

        result = run("gradient", "-", "--against", "difference", "--format", "json", "--index-base", "0", input=json.dumps(problem).encode())
        report = json.loads(result.stdout)
        self.assertEqual((result.returncode, report["format"], report["pass"]), (1, "mha-differences", False))
        held = {entry["gradient"]: entry for entry in report["gradients"]}
        self.assertEqual(held["dF"], held["dF"] | {"pass": True, "entry": "dF[1,1]", "item": 1, "value": 1})
        self.assertEqual([held["dH"][key] for key in ("pass", "entry", "value", "difference")], [False, "dH[1,1]", 0, 0.5])

    def test_the_loss_of_the_command_line_wins(self):
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "t.json"
            target.write_text("[[1, 2, 3, 2], [1, 3, 1, 2], [1, 3, 2, 2]]")
            array = Path(folder) / "t.npy"
            np.save(array, np.array(json.loads(target.read_text()), float))
            for path in (target, array):
                self.assertAlmostEqual(gradient("worked", "--loss", f"half_squares:{path}")["loss"], 0.8708291356899284)
        self.assertAlmostEqual(gradient(case("gradient_worked_target"), "--loss", "sum")["loss"], 24.012563334438298)

    def test_a_problem_without_a_loss(self):
        result = run("gradient", "worked")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"--loss sum", result.stderr)

    def test_a_file_of_a_loss_is_named_once(self):
        for file, words in (("/nope", "there is no such file"), ("/nope.npy", "there is no such file"), ("/tmp", "directory")):
            result = run("gradient", "worked", "--loss", f"mse:{file}")
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr.decode(), f"^mha: {file}: [^/]*{words}[^/]*$")

    def test_wrong_losses_are_refused(self):
        good = json.loads(case("gradient_worked_target").read_text())
        for loss in ("mean", {"mse": [[1]]}, {"mse": [[1, 2, 3, 4]] * 3, "gradient": [[1] * 4] * 3}, {}, {"l1": [[1]]}, 3,
                     {"cross_entropy": [0, 1]}, {"cross_entropy": [0, 1, 4]}, {"cross_entropy": [0, 1, 0.5]}, None):
            with self.subTest(loss=loss):
                result = run("gradient", "-", input=json.dumps(good | {"loss": loss}).encode())
                self.assertEqual(result.returncode, 2)
                self.assertRegex(result.stderr.decode(), r"^mha: -:\d+:\d+: loss")
        for text in ("mse", "mse:", "mae:t.json", "mse:missing.npy", "half_squares:missing.json"):
            self.assertEqual(run("gradient", "worked", "--loss", text).returncode, 2, text)

    def test_files_of_arrays_hold_what_the_json_holds(self):
        for name in ("gradient_grouped_rope", "gradient_fused", "gradient_layers", "gradient_cross"):
            expected = gradient(case(name))["gradients"]
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "g.npz"
                self.assertEqual(run("gradient", case(name), "-o", path).returncode, 0)
                arrays = {key: value for key, value in np.load(path).items() if key.startswith("gradients.")}
            self.assertGreater(len(arrays), 10)
            for key, value in arrays.items():
                at = expected
                for part in key.split(".")[1:]:
                    at = at[int(part) - 1] if part.isdigit() else at[part]
                self.assertTrue(np.array_equal(np.array(at), value), key)

    def test_chosen_steps(self):
        trace = gradient(case("gradient_worked_target"), "--steps", "dA,dZ")
        self.assertEqual(list(trace["gradients"]), ["heads"])
        self.assertEqual(list(trace["gradients"]["heads"][0]), ["head", "scaled", "weights"])
        self.assertIn("output", trace)
        self.assertEqual(list(gradient(case("gradient_cross"), "--steps", "dX")["gradients"]), ["X", "X_kv"])
        page = run("gradient", case("gradient_worked_target"), "--steps", "dZ").stdout.decode()
        self.assertIn("dZ⁽¹⁾ = A⁽¹⁾ ∘ (dA⁽¹⁾ − r⁽¹⁾)", page)
        self.assertNotIn("dA⁽¹⁾ = ", page)
        self.assertNotIn("dW_O", page)

    def test_the_docs_can_be_followed_with_a_pencil(self):
        """Of both heads, each number from those that the page prints before it, rounded once."""
        source = case("gradient_worked_target")
        problem, trace = json.loads(source.read_text()), gradient(source, "--round", "3")
        pages = [(SOURCE / "docs" / name).read_text("utf-8") for name in ("gradients.md", "gradients.zh.md")]

        def assert_follows(name, rounded, exact):
            self.assertLess(np.abs(np.array(rounded) - exact).max(), 0.0005 + 1e-9, name)
            for row in rounded:
                text = r" +".join(r"-?0\.000" if x == 0 else f"{x:.3f}" for x in row)
                for page in pages:
                    self.assertRegex(page, rf"[⎡⎢⎣] *{text} *[⎤⎥⎦]", name)

        slopes, X = trace["gradients"], np.array(problem["X"])
        parts = {}
        assert_follows("dConcat", slopes["concat"], np.array(slopes["output"]) @ np.array(problem["W_O"]).T)
        for i, (head, slope, W) in enumerate(zip(trace["heads"], slopes["heads"], problem["heads"])):
            own = {key: np.array(value) for key, value in slope.items()}
            A, V, K, Q = (np.array(head[key]) for key in ("weights", "V", "K", "Q"))
            assert_follows("dA", slope["weights"], own["head_output"] @ V.T)
            assert_follows("dV", slope["V"], A.T @ own["head_output"])
            r = np.round((A * own["weights"]).sum(-1, keepdims=True) + 1e-9, 3)
            assert_follows("dZ", slope["scaled"], A * (own["weights"] - r))
            assert_follows("dS", slope["scores"], own["scaled"] / math.sqrt(2))
            assert_follows("dQ", slope["Q"], own["scores"] @ K)
            assert_follows("dK", slope["K"], own["scores"].T @ Q)
            for name in "QKV":
                parts[name, i] = own[name] @ np.array(W[f"W_{name}"]).T
                assert_follows(f"dX_{name}", np.round(parts[name, i], 3).tolist(), parts[name, i])
                assert_follows(f"dW_{name}", slopes["parameters"]["heads"][i][f"W_{name}"], X.T @ own[name])
        assert_follows("dX", slopes["X"], sum(parts.values()))
        assert_follows("dW_O", slopes["parameters"]["W_O"], np.array(trace["concat"]).T @ np.array(slopes["output"]))

    def test_chosen_steps_as_the_help_has_them(self):
        source = case("gradient_worked_target")
        self.assertIn(b"dS-dX", run("gradient", "--help").stdout)
        backwards, forwards = gradient(source, "--steps", "dS-dX"), gradient(source, "--steps", "dX-dS")
        self.assertEqual(list(backwards["gradients"]), ["X", "heads"])
        self.assertEqual(backwards["gradients"], forwards["gradients"])
        self.assertEqual(run("gradient", source, "--steps", "dS-").returncode, 2)
        page = run("gradient", source, "--steps", "dW_Q,dY").stdout.decode()
        for there in ("dW_Q⁽¹⁾ = ", "dW_Q⁽²⁾ = ", "dY = "):
            self.assertIn(there, page)
        for elsewhere in ("dW_K⁽¹⁾ = ", "dW_O = ", "dX = "):
            self.assertNotIn(elsewhere, page)
        self.assertIn("dW_O = ", run("gradient", source, "--steps", "parameters").stdout.decode())
        self.assertEqual(gradient(source, "--steps", "dW_Q"), gradient(source, "--steps", "parameters"))

    def test_a_bias_that_only_some_heads_have(self):
        """The other head's zeros are no parameter: nothing is told of them, and they stay."""
        W = {"W_Q": [[1, 0], [0, 1], [1, 1]], "W_K": [[0, 1], [1, 0], [1, 1]], "W_V": [[1], [2], [0]]}
        problem = {"X": [[1, 0, 1], [0, 2, 1], [1, 1, 0]], "heads": [W | {"b_V": [1]}, W], "W_O": [[1, 2], [1, 0]], "loss": "sum"}
        heads = gradient(problem)["gradients"]["parameters"]["heads"]
        self.assertEqual([sorted(head) for head in heads], [["W_K", "W_Q", "W_V", "b_V"], ["W_K", "W_Q", "W_V"]])
        self.assertAlmostEqual(heads[0]["b_V"][0], 9, 12)  # of three tokens the row sum of W_O's first row
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "next.json"
            page = run("gradient", "-", "--descend", "0.1", "--next", path, input=json.dumps(problem).encode()).stdout.decode()
            after = json.loads(path.read_text())
        self.assertEqual(("b_V⁽¹⁾" in page, "b_V⁽²⁾" in page, "b_V" in after["heads"][1]), (True, False, False))
        step = lambda own, slope: (np.array(own) - 0.1 * np.array(slope)).tolist()
        moved = [{key: step(head[key], slope[key]) for key in slope} for head, slope in zip(problem["heads"], heads)]
        of_output = gradient(problem)["gradients"]["parameters"]["W_O"]
        by_hand = problem | {"heads": moved, "W_O": step(problem["W_O"], of_output)}
        self.assertRegex(page, rf"\n *1 +{gradient(by_hand)['loss']:.3f}")

    def test_a_sum_has_no_target(self):
        self.assertNotIn(b"should be", run("gradient", case("gradient_worked_sum")).stdout)
        self.assertNotIn("应有", run("gradient", case("gradient_worked_sum"), "--lang", "zh").stdout.decode())
        self.assertIn(b"should be", run("gradient", case("gradient_worked_target")).stdout)

    def test_a_picture_needs_weights(self):
        result = run("gradient", case("gradient_worked_sum"), "--format", "svg")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"--with-forward", result.stderr)
        self.assertEqual(run("gradient", case("gradient_worked_sum"), "--format", "svg", "--with-forward").returncode, 0)

    def test_chosen_layers(self):
        source = case("gradient_layers")
        trace, whole = gradient(source, "--layers", "2"), gradient(source)
        self.assertEqual([layer["layer"] for layer in trace["layers"]], [2])
        self.assertEqual(trace["gradients"]["layers"], whole["gradients"]["layers"][1:])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "g.npz"
            self.assertEqual(run("gradient", source, "--layers", "2", "-o", path).returncode, 0)
            names = [name for name in np.load(path) if name.startswith("gradients.layers.")]
        self.assertTrue(names and all(name.startswith("gradients.layers.2.") for name in names))
        page = run("gradient", source, "--layers", "2").stdout.decode()
        self.assertIn("Layer 2 of 2 · Gradients of the parameters", page)
        self.assertNotIn("Layer 1 of 2", page)

    def test_descent(self):
        source = case("gradient_worked_target")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "next.json"
            page = run("gradient", source, "--descend", "0.01", "--times", "3", "--next", path).stdout.decode()
            after = json.loads(path.read_text())
        problem = json.loads(source.read_text())
        losses = []
        for _ in range(3):
            trace = gradient(problem)
            losses.append(trace["loss"])
            step = lambda own, slope: (np.array(own) - 0.01 * np.array(slope)).tolist()
            problem = copy.deepcopy(problem)
            problem["W_O"] = step(problem["W_O"], trace["gradients"]["parameters"]["W_O"])
            for head, slopes in zip(problem["heads"], trace["gradients"]["parameters"]["heads"]):
                head |= {key: step(head[key], slopes[key]) for key in slopes}
        losses.append(gradient(problem)["loss"])
        self.assertEqual(sorted(losses, reverse=True), losses)
        table = page[page.index("Gradient descent"):]
        for number, loss in enumerate(losses):
            self.assertRegex(table, rf"\n *{number} +{loss:.3f}")
        self.assertLess(farthest({"heads": after["heads"], "W_O": after["W_O"]},
                                 {"heads": problem["heads"], "W_O": problem["W_O"]})[0], 1e-12)

    def test_descent_beyond_all_numbers_writes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "next.json"
            result = run("gradient", case("gradient_worked_sum"), "--descend", "1e308", "--next", path)
            self.assertEqual((result.returncode, path.exists()), (2, False))
        self.assertIn(b"step 1 of gradient descent", result.stderr)

    def test_descent_without_a_number_is_refused(self):
        self.assertEqual(run("gradient", case("gradient_grouped"), "--descend", "0.1").returncode, 2)
        source = case("gradient_worked_sum")
        self.assertEqual(run("gradient", source, "--times", "2").returncode, 2)
        for arguments in (["--descend", "-1"], ["--descend", "0.1", "--times", "0"], ["--descend", "0.1", "--next", source],
                          ["--against", "difference", "--round", "3"], ["--steps", "dW"], ["--against", "gpu"]):
            self.assertEqual(run("gradient", source, *arguments).returncode, 2, arguments)


class Explained(unittest.TestCase):
    def assert_told(self, problem, entry, expected):
        result = run("explain", problem, entry, "--format", "json", "--depth", "all")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertAlmostEqual(json.loads(result.stdout)["entries"][0]["value"], expected, 12, entry)

    def test_entries_of_fused_weights(self):
        for layout in ("x@W", "torch"):
            rng = np.random.default_rng(3)
            W = rng.integers(-2, 3, (4, 2 * 2 + 2 + 2))  # two query heads of width 2 on one key/value head
            problem = {"X": rng.integers(-2, 3, (3, 4)).tolist(), "num_heads": 2, "num_kv_heads": 1, "layout": layout,
                       "W_QKV": (W.T if layout == "torch" else W).tolist(), "b_QKV": [1, 0, 2, 0, 1, 0, 3, 1],
                       "W_O": "identity", "loss": "sum"}
            told = json.loads(run("gradient", "-", "--format", "json", input=json.dumps(problem).encode()).stdout)
            parameters = told["gradients"]["parameters"]
            for column in range(8):
                at = (column, 2) if layout == "torch" else (2, column)
                for entry, expected in ((f"dW_QKV[{at[0] + 1},{at[1] + 1}]", parameters["W_QKV"][at[0]][at[1]]),
                                        (f"db_QKV[{column + 1}]", parameters["b_QKV"][column])):
                    result = run("explain", "-", entry, "--format", "json", input=json.dumps(problem).encode())
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertAlmostEqual(json.loads(result.stdout)["entries"][0]["value"], expected, 12, entry)
            for entry in ("dW_QKV[*,*]", "db_QKV[9]", "db_QKV[0]"):
                result = run("explain", "-", entry, input=json.dumps(problem).encode())
                self.assertEqual(result.returncode, 2)
                self.assertIn(b"W_Q, W_K or W_V" if "W" in entry else b"has columns 1 to 8", result.stderr)

    def test_entries_have_the_numbers_of_the_file(self):
        worked = gradient(case("gradient_worked_target"))["gradients"]
        self.assert_told(case("gradient_worked_target"), "dW_Q1[1,2]", worked["parameters"]["heads"][0]["W_Q"][0][1])
        self.assert_told(case("gradient_worked_target"), "dA2[3,1]", worked["heads"][1]["weights"][2][0])
        self.assert_told(case("gradient_worked_target"), "dX[2,4]", worked["X"][1][3])
        block = gradient(case("gradient_block_pre"))["gradients"]
        self.assert_told(case("gradient_block_pre"), "db_O[2]", block["parameters"]["b_O"][1])
        self.assert_told(case("gradient_block_pre"), "db_Q2[1]", block["parameters"]["heads"][1]["b_Q"][0])
        self.assert_told(case("gradient_block_pre"), "dnorm.gamma[3]", block["parameters"]["norm"]["gamma"][2])
        self.assert_told(case("gradient_block_pre"), "dmlp.W_1[1,2]", block["parameters"]["mlp"]["W_1"][0][1])
        stack = gradient(case("gradient_layers"))["gradients"]
        self.assert_told(case("gradient_layers"), "layer2.dA1[3,1]", stack["layers"][1]["heads"][0]["weights"][2][0])
        self.assert_told(case("gradient_layers"), "layer1.dmlp_norm.beta[2]",
                         stack["layers"][0]["parameters"]["mlp_norm"]["beta"][1])
        self.assert_told(case("gradient_layers"), "dfinal_norm.gamma[1]", stack["parameters"]["final_norm"]["gamma"][0])
        grouped = gradient(case("gradient_grouped"))["gradients"]
        self.assert_told(case("gradient_grouped"), "dW_K2[1,1]", grouped["parameters"]["kv_heads"][1]["W_K"][0][0])
        self.assert_told(case("gradient_grouped"), "dK4[2,1]", grouped["heads"][3]["K"][1][0])

    def test_parts_as_the_page_names_them(self):
        """Before they are added up over a group, or to dX."""
        folder = SOURCE / "tests/cases/gradient_grouped"
        problem, trace = (json.loads((folder / name).read_text()) for name in ("problem.json", "trace.json"))
        for i in range(4):
            head, slopes = trace["heads"][i], trace["gradients"]["heads"][i]
            of_head = np.array(head["weights"]).T @ np.array(slopes["head_output"])
            self.assert_told(folder / "problem.json", f"dV_head{i + 1}[1,1]", of_head[0, 0])
            part = np.array(slopes["Q"]) @ np.array(problem["heads"][i]["W_Q"]).T
            self.assert_told(folder / "problem.json", f"dX_Q{i + 1}[2,1]", part[1, 0])
        of_keys = sum(np.array(trace["gradients"]["heads"][2 * i]["K"]) @ np.array(problem["kv_heads"][i]["W_K"]).T for i in range(2))
        self.assert_told(folder / "problem.json", "dX_K[2,1]", of_keys[1, 0])

    def test_what_is_no_entry_is_refused(self):
        for arguments in (["worked", "dA1[1,1]"], ["worked", "dA1[1,1]", "--loss", "mean"]):
            self.assertEqual(run("explain", *arguments).returncode, 2)
        for entry in ("dA9[1,1]", "dfoo[1,1]", "dW_Q3[1,1]", "dW_Q[1,1]", "dA1[4,1]", "dA1[2]", "dW_O1[1,1]", "d[1,1]"):
            with self.subTest(entry=entry):
                self.assertEqual(run("explain", case("gradient_worked_target"), entry).returncode, 2, entry)


if __name__ == "__main__":
    unittest.main(verbosity=1 if len(sys.argv) > 1 else 0)
