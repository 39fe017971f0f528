"""mha check on the way back: every case's gradients are right in every form and in any part, a mistake that NumPy makes in
them is named where it is made, and an error of the way there costs its own step alone."""

import itertools
import json
import math
import random
import re
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

from mha import MHA, SOURCE, run

WATCHED = MHA.parent.name == "build-asan"  # the sanitizers take ten times as long
CASES = sorted((SOURCE / "tests" / "cases").glob("gradient_*"))[::4 if WATCHED else 1]


def check(problem, answer, *options):
    """The report on one answer, a tree or a text."""
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(problem, dict):
            path = Path(folder, "problem.json")
            path.write_text(json.dumps(problem), encoding="utf-8")
            problem = path
        path = Path(folder, "answer.json")
        path.write_text(answer if isinstance(answer, str) else json.dumps(answer), encoding="utf-8")
        result = run("check", problem, path, "--format", "json", *options)
        assert result.returncode in (0, 1), result.stderr.decode()
        return json.loads(result.stdout)["answers"][0]


def written(tree, number):
    """The tree with each number as `number` writes it."""
    if isinstance(tree, dict):
        return {key: value if key in ("head", "kv_head", "layer", "loss") else written(value, number)
                for key, value in tree.items()}
    if isinstance(tree, list):
        return [written(value, number) for value in tree]
    return tree if isinstance(tree, str) else number(tree)


def work_of(trace):
    """What a trace holds beside its head: steps and gradients."""
    left_out = ("format", "version", "title", "device", "dtype", "rounding", "config", "X", "loss")
    return {key: value for key, value in trace.items() if key not in left_out}


def some_of(tree, rng, share):
    """Some of the matrices of a tree."""
    if isinstance(tree, dict):
        kept = {key: some_of(value, rng, share) for key, value in tree.items()}
        return {key: value for key, value in kept.items() if value is not None}
    if isinstance(tree, list) and tree and isinstance(tree[0], dict):
        return [some_of(value, rng, share) for value in tree]
    return tree if not isinstance(tree, list) or rng.random() < share else None


FORMS = {"f64": float, "f32": lambda x: float(np.float32(x)), "3 decimals": lambda x: round(x, 3),
         "6 digits": lambda x: float(f"{x:.5e}")}


class Right(unittest.TestCase):
    def assert_right(self, report, what):
        self.assertEqual(report["verdict"], "right", f"{what}: {report['first_wrong']} {report['mistakes']}")

    def test_every_case_in_every_form(self):
        self.assertGreaterEqual(len(CASES), 3 if WATCHED else 12)
        for folder in CASES:
            trace = work_of(json.loads((folder / "trace.json").read_text()))
            for name, number in FORMS.items():
                with self.subTest(case=folder.name, form=name):
                    options = ("--sigfig", "6") if name == "6 digits" else ()
                    report = check(folder / "problem.json", written(trace, number), *options)
                    self.assert_right(report, folder.name)
                    self.assertEqual((report["given"], report["score"]), (report["of"], 1))

    def test_parts_of_it(self):
        rng = random.Random(3)
        for folder in CASES:
            trace = work_of(json.loads((folder / "trace.json").read_text()))
            for name, number in FORMS.items():
                if name == "6 digits":
                    continue
                for share in (0.2, 0.5, 0.8):
                    part = written(some_of(trace, rng, share), number)
                    gradients = {"gradients": written(some_of(trace["gradients"], rng, share), number)}
                    for answer in (part, gradients):
                        if "weights" not in json.dumps(answer):
                            continue
                        with self.subTest(case=folder.name, form=name, share=share):
                            self.assert_right(check(folder / "problem.json", answer), f"{folder.name} {name}")

    def test_with_a_pencil(self):
        """Every row computed from rounded ones: those of mha gradient --round."""
        for folder in CASES:
            for decimals in "234":
                with self.subTest(case=folder.name, decimals=decimals):
                    result = run("gradient", folder / "problem.json", "--round", decimals, "--format", "json")
                    trace = work_of(json.loads(result.stdout))
                    self.assert_right(check(folder / "problem.json", trace), f"{folder.name} {decimals}")

    def test_with_a_pencil_where_one_weight_is_large(self):
        """A large weight takes the rounding of r into dM whole."""
        heads = [{"W_Q": [[-0.12, -0.637], [-0.4, 0.028], [0.032, 0.191], [0.324, 0.571]],
                  "W_K": [[-0.823, -0.535], [-0.688, -0.862], [-0.006, -0.079], [0.536, -0.455]],
                  "W_V": [[-0.236, 0.101], [0.127, 0.182], [0.884, 0.577], [-0.729, 0.745]]},
                 {"W_Q": [[0.834, -0.081], [0.098, 0.339], [0.682, -0.153], [-0.772, 1.282]],
                  "W_K": [[0.596, 1.076], [0.642, 0.041], [-0.832, 1.384], [-0.745, 0.22]],
                  "W_V": [[0.296, -0.79], [0.54, -0.965], [0.298, 0.134], [-0.5, 0.331]]}]
        problem = {"X": [[-0.411, 0.943, 0.42, 0.258], [-0.985, 0.81, -0.466, 0.657], [0.298, 0.217, -0.239, -0.723]],
                   "heads": heads, "W_O": [[0.138, -0.303, 1.093, -0.091], [-0.272, -0.377, 0.186, -0.921],
                                           [0.332, -0.387, 0.097, -0.393], [-0.312, 0.094, -0.113, 1.446]],
                   "mask": "causal", "loss": {"cross_entropy": [0, 2, 1]}}
        result = run("gradient", "-", "--round", "3", "--format", "json", input=json.dumps(problem).encode())
        work = work_of(json.loads(result.stdout))
        self.assert_right(check(problem, work), "a large weight")
        work["gradients"]["heads"][1]["masked"][1][0] -= 0.006
        self.assertEqual(check(problem, work)["first_wrong"], {"step": "dmasked", "head": 2})

    def test_files_of_arrays_and_tables(self):
        for folder in CASES:
            with tempfile.TemporaryDirectory() as place:
                for name in ("g.npz", "g.safetensors", "g.csv"):
                    path = Path(place, name)
                    self.assertEqual(run("gradient", folder / "problem.json", "-o", path).returncode, 0)
                    result = run("check", folder / "problem.json", path, "--format", "json")
                    report = json.loads(result.stdout)["answers"][0]
                    self.assert_right(report, f"{folder.name} {name}")
                    self.assertEqual(report["given"], report["of"], f"{folder.name} {name}")

    def test_flat_names(self):
        trace = json.loads((SOURCE / "tests/cases/gradient_worked_target/trace.json").read_text())["gradients"]
        head, own = trace["heads"][0], trace["parameters"]["heads"][0]
        answer = {"dA1": head["weights"], "dweights1": head["weights"], "dZ1": head["scaled"], "dS1": head["scores"],
                  "dhead1": head["head_output"], "dY": trace["output"], "dConcat": trace["concat"], "dX": trace["X"],
                  "dW_Q1": own["W_Q"], "dW_O": trace["parameters"]["W_O"], "dout1": head["head_output"]}
        report = check(SOURCE / "tests/cases/gradient_worked_target/problem.json", answer)
        self.assert_right(report, "flat")
        self.assertEqual((report["given"], report["message"]), (9, ""))
        stack = json.loads((SOURCE / "tests/cases/gradient_layers/trace.json").read_text())["gradients"]
        layer = stack["layers"][1]
        answer = {"layer2.dA1": layer["heads"][0]["weights"], "dfinal_norm": stack["final_norm"],
                  "layer2.dmlp.W_1": layer["parameters"]["mlp"]["W_1"], "dX": stack["X"],
                  "layer2.dnorm.gamma": layer["parameters"]["norm"]["gamma"], "layer2.dR'": layer["mlp_residual"],
                  "dfinal_norm.gamma": stack["parameters"]["final_norm"]["gamma"]}
        report = check(SOURCE / "tests/cases/gradient_layers/problem.json", answer)
        self.assert_right(report, "flat")
        self.assertEqual((report["given"], report["message"]), (7, ""))

    def test_names_of_pytorch(self):
        """Weights out×in, Q above K above V: of a problem with a matrix for each head, one as W_QKV, one stored as PyTorch's."""
        for name, torch in (("gradient_worked_target", False), ("gradient_fused", False), ("gradient_torch_layout_rope", True)):
            folder = SOURCE / "tests/cases" / name
            own = json.loads((folder / "trace.json").read_text())["gradients"]["parameters"]
            turn = (lambda x: np.array(x)) if torch else lambda x: np.array(x).T
            if "heads" in own:
                joined = [np.concatenate([turn(head[f"W_{x}"]) for head in own["heads"]]) for x in "QKV"]
                grads = {"in_proj_weight": np.concatenate(joined)}
            elif "W_QKV" in own:
                grads = {"self_attn.in_proj_weight": turn(own["W_QKV"]), "self_attn.in_proj_bias": np.array(own["b_QKV"])}
            else:
                grads = {"in_proj_weight": np.concatenate([turn(own[f"W_{x}"]) for x in "QKV"]),
                         "in_proj_bias": np.concatenate([own[f"b_{x}"] for x in "QKV"])}
            grads["out_proj.weight"] = turn(own["W_O"])
            answer = {"grads": {key: value.tolist() for key, value in grads.items()}}
            report = check(folder / "problem.json", answer)
            self.assert_right(report, name)
            self.assertEqual((report["given"], report["message"]), (7, ""))
            answer["grads"]["out_proj.weight"] = turn(own["W_O"]).T.tolist()
            self.assertEqual(check(folder / "problem.json", answer)["mistakes"], ["gradient_weight_transposed"])

    def test_names_of_pytorch_in_layers_and_in_arrays(self):
        """np.savez(path, **{name: p.grad …}) of an nn.TransformerEncoder, whose layers count from 0; and projections that
        are modules of their own."""
        folder = SOURCE / "tests/cases/gradient_layers"
        own = json.loads((folder / "trace.json").read_text())["gradients"]
        grads = {"norm.weight": np.array(own["parameters"]["final_norm"]["gamma"])}
        for i, layer in enumerate(own["layers"]):
            of = layer["parameters"]
            joined = [np.concatenate([np.array(head[f"W_{x}"]).T for head in of["heads"]]) for x in "QKV"]
            grads |= {f"layers.{i}.self_attn.in_proj_weight": np.concatenate(joined),
                      f"layers.{i}.self_attn.out_proj.weight": np.array(of["W_O"]).T,
                      f"layers.{i}.linear1.weight": np.array(of["mlp"]["W_1"]).T,
                      f"layers.{i}.norm1.weight": np.array(of["norm"]["gamma"])}
            if "b_1" in of["mlp"]:
                grads[f"layers.{i}.linear1.bias"] = np.array(of["mlp"]["b_1"])
            if i == 1:
                rename = f"layers.{i}.self_attn."
                del grads[rename + "in_proj_weight"]
                grads |= {rename + f"{x.lower()}_proj.weight": W for x, W in zip("QKV", joined)}
        report = check(folder / "problem.json", {"grads": {key: value.tolist() for key, value in grads.items()}})
        self.assert_right(report, "layers")
        self.assertEqual(report["message"], "")
        given = report["given"]
        with tempfile.TemporaryDirectory() as place:
            path = Path(place, "g.npz")
            for before in ("", "grads."):
                np.savez(path, **{before + key: value for key, value in grads.items()})
                report = json.loads(run("check", folder / "problem.json", path, "--format", "json").stdout)["answers"][0]
                self.assert_right(report, "arrays")
                self.assertEqual((report["given"], report["message"]), (given, ""))
            grads["layers.1.linear1.weight"] = grads["layers.0.linear1.weight"]
            np.savez(path, **grads)
            report = json.loads(run("check", folder / "problem.json", path, "--format", "json").stdout)["answers"][0]
            self.assertEqual((report["first_wrong"]["layer"], report["first_wrong"]["step"]), (2, "dmlp.W_1"))

    def test_without_a_loss_they_are_passed_over(self):
        trace = json.loads((SOURCE / "tests/cases/gradient_worked_sum/trace.json").read_text())
        problem = json.loads((SOURCE / "tests/cases/gradient_worked_sum/problem.json").read_text())
        del problem["loss"]
        report = check(problem, work_of(trace))
        self.assert_right(report, "no loss")
        self.assertIn("--loss", report["message"])
        self.assertEqual(check(problem, work_of(trace), "--loss", "sum")["given"], 40)

    def test_they_count_where_some_are_given_or_asked_for(self):
        folder = SOURCE / "tests/cases/gradient_worked_target"
        trace = work_of(json.loads((folder / "trace.json").read_text()))
        whole = check(folder / "problem.json", trace)
        forward = {key: value for key, value in trace.items() if key != "gradients"}
        report = check(folder / "problem.json", forward)
        steps = {"Q", "K", "V", "scores", "scaled", "weights", "head_output"}
        self.assertEqual((report["verdict"], report["score"], report["given"], report["of"]), ("right", 1, 2 * len(steps) + 2, 16))
        self.assertLess(report["of"], whole["of"])
        self.assertFalse([step for step in report["steps"] if step["step"].startswith("d")])
        blank = forward | {"dY": [[None] * 4] * 3}  # named, and left blank
        self.assertEqual(check(folder / "problem.json", blank)["of"], whole["of"])
        report = check(folder / "problem.json", forward, "--require", "dA")
        self.assertEqual((report["verdict"], report["of"]), ("incomplete", 18))
        self.assertLess(report["score"], 1)

    def test_some_are_required(self):
        folder = SOURCE / "tests/cases/gradient_worked_target"
        trace = work_of(json.loads((folder / "trace.json").read_text()))
        del trace["gradients"]["heads"][1]["scaled"]
        self.assertEqual(check(folder / "problem.json", trace, "--require", "dZ")["verdict"], "incomplete")
        self.assertEqual(check(folder / "problem.json", trace, "--require", "dA-dV,dW_O")["verdict"], "right")
        self.assertEqual(check(folder / "problem.json", trace, "--points", "all=0,dA=1")["score"], 1)


def softmax(z):
    powers = np.exp(z - z.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def gelu_slope(x):
    return 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


T = lambda a: np.swapaxes(a, -1, -2)


class Work:
    """The two passes of a layer as a person does them, with one mistake; every row is kept as `keep` rounds it."""

    def __init__(self, seed, n=3, d=6, h=2, g=None, d_k=3, batch=None, block=False, loss="half_squares", causal=True):
        rng = np.random.default_rng(seed)
        draw = lambda *shape: np.round(rng.normal(0, 0.8, shape), 1)
        self.n, self.h, self.g, self.batch, self.block, self.causal = n, h, g or h, batch, block, causal
        self.X = draw(batch or 1, n, d)
        self.W = {name: draw(self.h if name == "Q" else self.g, d, d_k) for name in "QKV"}
        self.b = {name: draw(self.h if name == "Q" else self.g, d_k) for name in "QKV"}
        self.W_O, self.b_O = draw(h * d_k, d), draw(d)
        self.gamma, self.beta = 1 + draw(2, d) / 2, draw(2, d)
        self.W_1, self.b_1, self.W_2, self.b_2 = draw(d, 4), draw(4), draw(4, d), draw(d)
        self.loss, self.T = loss, draw(batch or 1, n, d)
        self.indices = rng.integers(0, d, (batch or 1, n))

    def as_json(self):
        one = lambda x: (x if self.batch else x[0]).tolist()
        heads = [{f"{k}_{name}": values[name][i].tolist() for k, values in (("W", self.W), ("b", self.b))
                  for name in ("QKV" if self.g == self.h else "Q")} for i in range(self.h)]
        problem = {"X": one(self.X), "heads": heads, "W_O": self.W_O.tolist(), "b_O": self.b_O.tolist(),
                   "loss": {self.loss: one(self.indices if self.loss == "cross_entropy" else self.T)}}
        if self.g != self.h:
            problem["kv_heads"] = [{f"{k}_{name}": values[name][i].tolist() for k, values in (("W", self.W), ("b", self.b))
                                    for name in "KV"} for i in range(self.g)]
        if self.causal:
            problem["mask"] = "causal"
        if self.block:
            norm = lambda i: {"kind": "layer", "gamma": self.gamma[i].tolist(), "beta": self.beta[i].tolist()}
            problem |= {"residual": True, "norm": norm(0), "mlp_norm": norm(1),
                        "mlp": {"W_1": self.W_1.tolist(), "b_1": self.b_1.tolist(), "activation": "gelu",
                                "W_2": self.W_2.tolist(), "b_2": self.b_2.tolist()}}
        return problem

    def rows(self, mistake=None, keep=lambda x: x, there=None):
        """Names as a flat answer has them; b×n×d, parameters without b. `mistake` with its form: "gradient_group_sum:first".
        `there`: a mistake of the way there."""
        mistake, _, form = (mistake or "").partition(":")
        out, scale = {}, 1 / math.sqrt(self.W["Q"].shape[-1])

        def row(name, value):
            out[name] = keep(value)
            return out[name]

        def normed(x, i):
            centred = x - x.mean(-1, keepdims=True)
            return centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5)

        kv = lambda i: i * self.g // self.h
        reads = row("norm", normed(self.X, 0) * self.gamma[0] + self.beta[0]) if self.block else self.X
        own = {}
        for name in "QKV":
            for i in range(self.h):
                j = i if name == "Q" else kv(i)
                own[name, i] = row(f"{name}{i + 1}", reads @ self.W[name][j] + self.b[name][j])
        keeps = np.tril(np.ones((self.n, self.n), bool)) if self.causal else np.ones((self.n, self.n), bool)
        A, Z = {}, {}
        for i in range(self.h):
            S = row(f"S{i + 1}", own["Q", i] @ T(own["K", i]))
            Z[i] = row(f"Z{i + 1}", S if there == "no_scale" else S * scale)
            M = np.where(keeps, Z[i], -np.inf)
            if self.causal:
                out[f"M{i + 1}"] = M
            A[i] = row(f"A{i + 1}", T(softmax(T(M))) if there == "softmax_columns" else softmax(M))
            own["head", i] = row(f"head{i + 1}", A[i] @ own["V", i])
        C = row("concat", np.concatenate([own["head", i] for i in range(self.h)], -1))
        P = Y = row("Y", C @ self.W_O + self.b_O)
        if self.block:
            R = row("R", self.X + Y)
            N = row("N'", normed(R, 1) * self.gamma[1] + self.beta[1])
            H = row("H", N @ self.W_1 + self.b_1)
            U = row("U", gelu(H))
            F = row("F", U @ self.W_2 + self.b_2)
            P = row("R'", R + F)

        rows_of = lambda x: x.reshape(-1, x.shape[-1])
        averaged = 1 / (self.batch or 1) if mistake == "gradient_batch_averaged" else 1

        def weight(name, left, right):
            value = rows_of(left).T @ rows_of(right) * averaged
            row(name, value.T if mistake == "gradient_weight_transposed" else value)

        def bias(name, g):
            if mistake == "gradient_bias_rows":
                row(name, g if self.batch else g[0])
            else:
                row(name, rows_of(g).sum(0) * averaged)

        def through_norm(g, x, i, gamma_name, beta_name, name):
            x_hat = normed(x, i)
            row(gamma_name, rows_of(g * x_hat).sum(0) * averaged)
            bias(beta_name, g)
            deviation = np.sqrt(((x - x.mean(-1, keepdims=True)) ** 2).mean(-1, keepdims=True) + 1e-5)
            h = g * self.gamma[i]
            if mistake == "gradient_norm_means":
                return h / deviation
            return (h - h.mean(-1, keepdims=True) - x_hat * (h * x_hat).mean(-1, keepdims=True)) / deviation

        if self.loss == "mse":
            dP = (P - self.T) * (2 / P.size if mistake != "gradient_loss_factor" else float(form or 1))
        elif self.loss == "half_squares":
            dP = (P - self.T) * (2 if mistake == "gradient_loss_factor" else 1)
        else:
            hot = np.eye(P.shape[-1])[self.indices]
            dP = (softmax(P) - hot) / (1 if mistake == "gradient_loss_factor" else P.shape[0] * P.shape[1])
        if self.block:
            dR_out = row("dR'", dP)
            dF = row("dF", dR_out)
            weight("dW_2", U, dF)
            bias("db_2", dF)
            dU = row("dU", dF @ self.W_2.T)
            dH = row("dH", dU * gelu_slope(U if mistake == "gradient_activation" else H))
            weight("dW_1", N, dH)
            bias("db_1", dH)
            dN = row("dN'", dH @ self.W_1.T)
            back = through_norm(dN, R, 1, "dmlp_norm.gamma", "dmlp_norm.beta", "dR")
            dR = row("dR", back if mistake == "gradient_residual_forgotten" else back + dR_out)
            dP = dR
        dY = row("dY", dP)
        weight("dW_O", C, dY)
        bias("db_O", dY)
        dC = row("dConcat", dY @ (self.W_O if mistake == "gradient_wo_untransposed" else self.W_O.T))
        slopes, width = {}, own["V", 0].shape[-1]
        for i in range(self.h):
            dhead = row(f"dhead{i + 1}", dC[..., i * width:(i + 1) * width])
            dA = row(f"dA{i + 1}", dhead @ (own["V", i] if mistake == "gradient_v_untransposed" else T(own["V", i])))
            slopes["V", i] = (A[i] if mistake == "gradient_a_untransposed" else T(A[i])) @ dhead
            weights = softmax(Z[i]) if mistake == "gradient_mask_ignored" else A[i]
            r = keep((weights * dA).sum(-1, keepdims=True))
            dM = weights * (dA - r)
            if mistake == "gradient_row_sum":
                dM = A[i] * dA
            if mistake == "gradient_diagonal":
                dM = A[i] * (1 - A[i]) * dA
            if mistake == "gradient_columns":
                dM = A[i] * (dA - (A[i] * dA).sum(-2, keepdims=True))
            if self.causal:
                row(f"dM{i + 1}", dM)
            dZ = row(f"dZ{i + 1}", dM)
            dS = row(f"dS{i + 1}", dZ * {"gradient_scale_forgotten": 1, "gradient_scale_twice": scale ** 2}.get(mistake, scale))
            slopes["Q", i] = dS @ (T(own["K", i]) if mistake == "gradient_k_transposed" else own["K", i])
            slopes["K", i] = (dS if mistake == "gradient_ds_untransposed" else T(dS)) @ own["Q", i]
        for name in "KV":
            for j in range(self.g):
                group = [i for i in range(self.h) if kv(i) == j]
                slope_of = {i: slopes[name, i] for i in group}
                total = sum(slope_of.values())
                for i in group:
                    own_part = slopes[name, i]
                    if mistake == "gradient_group_sum" and form:
                        own_part = total = slope_of[group[0 if form == "first" else -1]]
                    row(f"d{name}{i + 1}", own_part if mistake == "gradient_group_sum" else total)
                    slopes[name, i] = total if mistake == "gradient_group_sum" else out[f"d{name}{i + 1}"]
        for i in range(self.h):
            slopes["Q", i] = row(f"dQ{i + 1}", slopes["Q", i])
        parts = {}
        for name in "QKV":
            heads = range(self.h) if name == "Q" else [j * self.h // self.g for j in range(self.g)]
            for j, i in enumerate(heads):
                weight(f"dW_{name}{j + 1}", reads, slopes[name, i])
                bias(f"db_{name}{j + 1}", slopes[name, i])
            parts[name] = sum(slopes[name, i] @ self.W[name][j].T for j, i in enumerate(heads))
            if mistake == "gradient_heads_averaged":
                parts[name] = parts[name] / len(heads)
        if mistake == "gradient_part_forgotten":
            del parts["V"]
        dX = sum(parts.values())
        if self.block:
            dX = row("dN", dX)
            back = through_norm(dX, self.X, 0, "dnorm.gamma", "dnorm.beta", "dX")
            dX = back if mistake == "gradient_residual_forgotten" else back + dR
        row("dX", dX)
        return out

    def answer(self, mistake=None, keep=lambda x: x, only=None, there=None):
        parameter = lambda name: name.startswith(("dW_", "db_")) or "gamma" in name or "beta" in name
        tree = lambda name, x: (x if self.batch or parameter(name) else x[0]).tolist()
        plain = lambda x: "-inf" if x == -np.inf else x
        replaced = lambda x: [replaced(y) for y in x] if isinstance(x, list) else plain(x)
        rows = self.rows(mistake, keep, there)
        return {name: replaced(tree(name, x)) for name, x in rows.items() if only is None or only(name)}


def attention(seed, **sizes):
    return Work(seed, **sizes)


# The mistake, the problem in which it can be made, and the step at which it first shows.
MADE = [("gradient_loss_factor", {}, "doutput"), ("gradient_loss_factor", {"loss": "mse"}, "doutput"),
        ("gradient_loss_factor", {"loss": "cross_entropy"}, "doutput"),
        ("gradient_wo_untransposed", {}, "dconcat"), ("gradient_v_untransposed", {}, "dweights"),
        ("gradient_loss_factor:2", {"loss": "mse"}, "doutput"),
        ("gradient_a_untransposed", {}, "dV"), ("gradient_group_sum", {"h": 4, "g": 2}, "dV"),
        ("gradient_group_sum:first", {"h": 4, "g": 2}, "dV"), ("gradient_group_sum:last", {"h": 4, "g": 2}, "dV"),
        ("gradient_row_sum", {}, "dmasked"), ("gradient_row_sum", {"causal": False}, "dscaled"),
        ("gradient_diagonal", {}, "dmasked"), ("gradient_columns", {}, "dmasked"),
        ("gradient_mask_ignored", {}, "dmasked"), ("gradient_scale_forgotten", {}, "dscores"),
        ("gradient_scale_twice", {}, "dscores"), ("gradient_k_transposed", {}, "dQ"),
        ("gradient_ds_untransposed", {}, "dK"), ("gradient_part_forgotten", {}, "dX"),
        ("gradient_part_forgotten", {"block": True}, "dnorm"), ("gradient_heads_averaged", {}, "dX"),
        ("gradient_residual_forgotten", {"block": True}, "dresidual"), ("gradient_norm_means", {"block": True}, "dresidual"),
        ("gradient_weight_transposed", {}, "dW_Q"), ("gradient_bias_rows", {"h": 3, "d_k": 2}, "db_Q"),
        ("gradient_batch_averaged", {"batch": 2, "n": 4}, "dW_Q"), ("gradient_activation", {"block": True}, "dhidden")]


class Wrong(unittest.TestCase):
    def setUp(self):
        self.maxDiff = None

    def test_numpy_itself_is_right(self):
        for sizes in {json.dumps(sizes): sizes for _, sizes, _ in MADE}.values():
            for decimals, seed in itertools.product((None, 3), (1, 2)):
                work = Work(seed, **sizes)
                keep = (lambda x: x) if decimals is None else lambda x: np.round(x, decimals)
                report = check(work.as_json(), work.answer(keep=keep))
                self.assertEqual(report["verdict"], "right", (sizes, decimals, report["first_wrong"], report["message"]))
                self.assertEqual(report["given"], report["of"])

    def test_every_mistake_is_named(self):
        for mistake, sizes, step in MADE:
            for decimals, seed in itertools.product((None, 3), (1,) if WATCHED else (1, 2, 3)):
                with self.subTest(mistake=mistake, sizes=sizes, decimals=decimals, seed=seed):
                    work = Work(seed, **sizes)
                    keep = (lambda x: x) if decimals is None else lambda x: np.round(x, decimals)
                    report = check(work.as_json(), work.answer(mistake, keep))
                    self.assertEqual(report["verdict"], "wrong")
                    self.assertEqual(report["first_wrong"]["step"], step)
                    self.assertEqual(report["mistakes"], [mistake.partition(":")[0]])

    def test_from_gradients_alone(self):
        for mistake, sizes, step in MADE:
            with self.subTest(mistake=mistake, sizes=sizes):
                work = Work(1, **sizes)
                report = check(work.as_json(), work.answer(mistake, only=lambda name: name.startswith("d")))
                self.assertEqual((report["first_wrong"]["step"], report["mistakes"]), (step, [mistake.partition(":")[0]]))

    def test_a_slip_from_gradients_alone_is_no_mistake(self):
        """Mistakes of the way there that cannot be walked backwards explain nothing of it."""
        for folder in CASES:
            trace = json.loads((folder / "trace.json").read_text())
            stack = trace["gradients"].get("layers")
            gradients = stack[-1] if stack else trace["gradients"]
            key = "concat" if "concat" in gradients else "output"
            rows = np.array(gradients[key])
            rows[(0,) * rows.ndim] += 0.37
            answer = {"gradients": {"layers": [{}] * (len(stack) - 1) + [{key: rows.tolist()}]} if stack else {key: rows.tolist()}}
            report = check(folder / "problem.json", answer)
            self.assertEqual((report["verdict"], report["mistakes"]), ("wrong", []), folder.name)
        trace = json.loads((SOURCE / "tests/cases/gradient_worked_target/trace.json").read_text())
        answer = {"A1": trace["heads"][0]["weights"], "dA1": trace["gradients"]["heads"][0]["weights"],
                  "dW_Q1": [[1, 2], [3, 4], [5, 6], [7, 8.5]]}
        report = check(SOURCE / "tests/cases/gradient_worked_target/problem.json", answer)
        self.assertEqual((report["first_wrong"]["step"], report["mistakes"]), ("dW_Q", []))
        work = Work(1)
        answer = work.answer("gradient_weight_transposed", only=lambda name: name.startswith("dW"))
        self.assertEqual(check(work.as_json(), answer)["mistakes"], ["gradient_weight_transposed"])

    def test_relu_has_one_place_for_its_derivative(self):
        """f′(U) = f′(H): where U is 0 exactly, so is the derivative."""
        folder = SOURCE / "tests/cases/block_post_relu"
        trace = json.loads(run("gradient", folder / "problem.json", "--loss", "sum", "--format", "json").stdout)["gradients"]
        slipped = np.array(trace["X"])
        slipped[1, 0] += 0.3
        parameters = trace["parameters"]
        parameters["heads"][0]["W_V"][0][0] += 0.3
        for answer in ({"dX": slipped.tolist()}, {"gradients": {"parameters": parameters}}):
            report = check(folder / "problem.json", answer, "--loss", "sum")
            self.assertEqual((report["verdict"], report["mistakes"]), ("wrong", []))

    def test_the_derivative_of_a_gate_at_the_activated_gate(self):
        folder = SOURCE / "tests/cases/block_rms_gated"
        trace = json.loads(run("gradient", folder / "problem.json", "--loss", "sum", "--format", "json").stdout)
        G, H, dU = np.array(trace["gate"]), np.array(trace["hidden"]), np.array(trace["gradients"]["activated"])
        activation = json.loads((folder / "problem.json").read_text())["mlp"]["activation"]
        self.assertEqual(activation, "silu")
        sigmoid = lambda x: 1 / (1 + np.exp(-x))
        slope = lambda x: sigmoid(x) * (1 + x * (1 - sigmoid(x)))
        np.testing.assert_allclose(dU * H * slope(G), trace["gradients"]["gate"], atol=1e-12)
        work = work_of(trace) | {"gradients": {"activated": dU.tolist(), "gate": (dU * H * slope(G * sigmoid(G))).tolist()}}
        report = check(folder / "problem.json", work, "--loss", "sum")
        self.assertEqual((report["first_wrong"]["step"], report["mistakes"]), ("dgate", ["gradient_activation"]))

    def test_each_mistake_has_a_row_in_the_docs(self):
        ours = re.findall(r"^(gradient_\w+) ", run("mistakes").stdout.decode(), re.MULTILINE)
        self.assertGreaterEqual(len(ours), 21)
        for page in ("gradients.md", "gradients.zh.md"):
            rows = re.findall(r"^\| `(gradient_\w+)` \| .+ \| .+ \|$", (SOURCE / "docs" / page).read_text("utf-8"), re.MULTILINE)
            self.assertEqual(sorted(rows), sorted(ours))

    def test_an_error_of_the_way_there_costs_its_own_step(self):
        """The way back is right from the person's own numbers."""
        work = Work(4)
        report = check(work.as_json(), work.answer(there="no_scale"))
        self.assertEqual(report["first_wrong"]["step"], "scaled")
        self.assertEqual(report["mistakes"], ["no_scale"])
        wrong = {step["step"] for step in report["steps"] if step["verdict"] == "wrong"}
        self.assertEqual(wrong, {"scaled"})
        following = {step["step"] for step in report["steps"] if step["verdict"] == "following"}
        self.assertTrue({"dweights", "dscores", "dX", "dW_Q", "dW_O"} <= following)

    def test_another_one_on_the_way_back(self):
        for there in ("no_scale", "softmax_columns"):
            for mistake in ("gradient_row_sum", "gradient_ds_untransposed", "gradient_bias_rows"):
                work = Work(4, h=3, d_k=2, causal=False)
                report = check(work.as_json(), work.answer(mistake, there=there))
                self.assertEqual(report["mistakes"], [there, mistake])

    def test_the_way_back_through_what_was_computed(self):
        """Of who left out the scale on the way there, autograd leaves it out on the way back: one mistake, made once."""
        work = Work(4)
        scale = 1 / math.sqrt(3)
        unscaled = Work(4)
        # W_Q·√d_k with the scale computes what W_Q without it does; its gradients by the chain rule are those times √d_k.
        unscaled.W["Q"], unscaled.b["Q"] = unscaled.W["Q"] / scale, unscaled.b["Q"] / scale
        of_other = unscaled.rows()
        for i in (1, 2):
            for name in (f"dQ{i}", f"dW_Q{i}", f"db_Q{i}"):
                of_other[name] = of_other[name] / scale
            of_other[f"dS{i}"] = of_other[f"dZ{i}"]
            of_other[f"Q{i}"] = of_other[f"Q{i}"] * scale
            of_other[f"S{i}"] = of_other[f"Z{i}"]
        parameter = lambda name: name.startswith(("dW_", "db_"))
        tree = {name: (x if parameter(name) else x[0]).tolist() for name, x in of_other.items() if not name.startswith("M")}
        report = check(work.as_json(), tree)
        self.assertEqual(report["mistakes"], ["no_scale"])
        self.assertEqual({step["step"] for step in report["steps"] if step["verdict"] == "wrong"}, {"scaled"})


if __name__ == "__main__":
    unittest.main(verbosity=1 if len(sys.argv) > 1 else 0)
