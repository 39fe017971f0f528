"""Work with a pencil, judged: who rounds every step, or only what is handed in, or the factor as well, is right whatever is
left out; a number that is off by far more than rounding costs is wrong, and so is a forgotten residual sum.

The blocks and stacks are computed here anew, in plain Python. To draw others: MHA_SEED=2; more of them: MHA_PROBLEMS=1000.
"""

import itertools
import json
import math
import os
import random
import tempfile
import unittest
from pathlib import Path

from mha import MHA, run

SEED = int(os.environ.get("MHA_SEED", "1"))
PROBLEMS = int(os.environ.get("MHA_PROBLEMS", "6" if MHA.parent.name == "build-asan" else "30"))
FAR_MORE = 18  # times what rounding comes to in one sample of students
KINDS = ["attention", "block", "stack", "attention twice"]


def rounded(number, decimals):
    """Half away from zero, of the decimal that a person would have on paper."""
    if not math.isfinite(number):
        return number
    units = abs(float(f"{number:.12g}")) * 10 ** decimals
    return math.copysign(math.floor(units + 0.5 + 1e-9), number) / 10 ** decimals


def product(a, b, bias=None):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) + (bias[j] if bias else 0) for j, column in enumerate(columns)]
            for row in a]


def turned(a):
    return [list(column) for column in zip(*a)]


def each(function, *matrices):
    return [[function(*numbers) for numbers in zip(*rows)] for rows in zip(*matrices)]


ACTIVATIONS = {"relu": lambda x: max(x, 0.0), "gelu": lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))),
               "silu": lambda x: x / (1 + math.exp(-x))}


class Draw:
    """A problem of one layer or of a stack, as JSON."""

    def __init__(self, rng, kind):
        self.rng, self.kind = rng, kind
        self.n, self.h, self.d_k = rng.randint(2, 4), rng.randint(1, 3), rng.choice([2, 2, 3, 4])
        self.d = max(3, self.h * self.d_k)
        self.style = rng.choice(["whole", "halves", "tenths", "full"])
        layers = [self.layer() for _ in range(1 if kind in ("attention", "block") else rng.randint(2, 3))]
        self.layers = layers
        X = self.matrix(self.n, self.d)
        self.json = {"X": X} | (layers[0] if len(layers) == 1 else {"layers": layers})

    def number(self):
        if self.style == "whole":
            return self.rng.randint(-1, 1)
        if self.style == "halves":
            return self.rng.randint(-2, 2) / 2
        return round(self.rng.gauss(0, 0.6), 1) if self.style == "tenths" else self.rng.gauss(0, 0.6)

    def matrix(self, rows, columns):
        return [[self.number() for _ in range(columns)] for _ in range(rows)]

    def layer(self):
        rng, d = self.rng, self.d
        bias = lambda key, size: {key: [self.number() for _ in range(size)]} if rng.random() < 0.4 else {}
        heads = [{f"W_{k}": self.matrix(d, self.d_k) for k in "QKV"} for _ in range(self.h)]
        for head in heads:
            for k in "QKV":
                head.update(bias(f"b_{k}", self.d_k))
        layer = {"heads": heads, "W_O": self.matrix(self.h * self.d_k, d), "mask": rng.choice(["none", "causal"])}
        layer |= bias("b_O", d)
        if self.kind.startswith("attention"):
            return layer
        kind = rng.choice(["layer", "layer", "rms"])
        norm = {"kind": kind, "eps": rng.choice([1e-5, 0.1])}
        if rng.random() < 0.5:
            norm["gamma"] = [rng.choice([0.5, 1.0, 1.5]) for _ in range(d)]
        wide = d + rng.randint(0, 2)
        mlp = {"W_1": self.matrix(d, wide), "W_2": self.matrix(wide, d), "activation": rng.choice(list(ACTIVATIONS))}
        mlp |= bias("b_1", wide) | bias("b_2", d)
        if rng.random() < 0.3:
            mlp["W_gate"] = self.matrix(d, wide)
        return layer | {"norm": norm, "residual": True, "mlp": mlp, "mlp_norm": dict(norm),
                        "norm_place": rng.choice(["pre", "post"])}


class Student:
    """Who rounds every step to so many decimals, or with None nothing before it is written down; `factor`: what the scores
    are multiplied by."""

    def __init__(self, decimals=None, factor=None, mistake=None, shift=None, inner=()):
        self.decimals, self.factor, self.mistake, self.shift, self.inner = decimals, factor, mistake, shift, inner

    def keep(self, x):
        return x if self.decimals is None else [[rounded(number, self.decimals) for number in row] for row in x]

    def by_the_way(self, what, number):
        """What is not written down on the sheet."""
        return rounded(number, self.decimals) if what in self.inner and self.decimals is not None else number

    def norm(self, x, norm):
        result = []
        for row in x:
            mean = self.by_the_way("mean", sum(row) / len(row)) if norm["kind"] == "layer" else 0
            square = self.by_the_way("variance", sum((number - mean) ** 2 for number in row) / len(row))
            root = self.by_the_way("root", math.sqrt(square + norm["eps"]))
            gamma = norm.get("gamma", [1] * len(row))
            result.append([(number - mean) / root * g for number, g in zip(row, gamma)])
        return self.keep(result)

    def softmax(self, z):
        result = []
        for row in z:
            most = max(row) - 5 if abs(max(row)) > 5 else 0  # nobody works with e^100
            powers = [self.by_the_way("power", math.exp(number - most)) for number in row]
            total = self.by_the_way("sum", sum(powers))
            result.append([power / total for power in powers])
        return self.keep(result)

    def attend(self, x, layer, steps):
        keep, heads = self.keep, []
        for number, head in enumerate(layer["heads"], 1):
            Q, K, V = (keep(product(x, head[f"W_{k}"], head.get(f"b_{k}"))) for k in "QKV")
            S = keep(product(Q, turned(K)))
            factor = self.factor or 1 / math.sqrt(len(Q[0]))
            Z = keep(each(lambda s: s if self.mistake == "no_scale" else s * factor, S))
            own = {"Q": Q, "K": K, "V": V, "S": S, "Z": Z}
            if layer["mask"] == "causal":
                Z = [[z if j <= i else -math.inf for j, z in enumerate(row)] for i, row in enumerate(Z)]
            A = own["A"] = self.softmax(Z)
            heads.append(keep(product(A, V)))
            steps |= {f"{name}{number}": matrix for name, matrix in (own | {"head": heads[-1]}).items()}
        steps["concat"] = [sum(rows, []) for rows in zip(*heads)]
        steps["Y"] = keep(product(steps["concat"], layer["W_O"], layer.get("b_O")))
        return steps["Y"]

    def feed(self, x, layer, steps):
        mlp, keep = layer["mlp"], self.keep
        act = ACTIVATIONS[mlp["activation"]]
        H = steps["H"] = keep(product(x, mlp["W_1"], mlp.get("b_1")))
        if "W_gate" in mlp:
            G = steps["G"] = keep(product(x, mlp["W_gate"]))
            steps["U"] = keep(each(lambda g, h: act(g) * h, G, H))
        else:
            steps["U"] = keep(each(act, H))
        steps["F"] = keep(product(steps["U"], mlp["W_2"], mlp.get("b_2")))
        return steps["F"]

    def layer(self, x, layer, steps):
        if "norm" not in layer:
            return self.attend(x, layer, steps)
        before = layer["norm_place"] == "pre"
        for sublayer, norm, N, R in ((self.attend, layer["norm"], "N", "R"), (self.feed, layer["mlp_norm"], "N'", "R'")):
            entering = x
            if before:
                entering = steps[N] = self.norm(x, norm)
            added = sublayer(entering, layer, steps)
            last = self.mistake == "residual_forgotten" and R == "R'"
            x = steps[R] = added if last else self.keep(each(lambda a, b: a + b, x, added))
            if not before:
                x = steps[N] = self.norm(x, norm)
        return x

    def work(self, draw):
        """The steps of each layer."""
        x, result = draw.json["X"], []
        for layer in draw.layers:
            result.append({})
            x = self.layer(x, layer, result[-1])
        return result


def written(steps, decimals, chosen):
    """The chosen ones as an answer; each is (layer, name)."""
    def text(number):
        return f"{rounded(number, decimals):.{decimals}f}"
    layers = len(steps)
    rows = lambda x: "[" + ", ".join("[" + ", ".join(map(text, row)) + "]" for row in x) + "]"
    return "{" + ", ".join(f'"{f"layer{layer + 1}." if layers > 1 else ""}{name}": {rows(steps[layer][name])}'
                           for layer, name in chosen) + "}"


def every(steps):
    return [(layer, name) for layer, own in enumerate(steps) for name in own]


def factors(d_k, decimals):
    """As somebody has them who rounds 1/√d_k or √d_k, to these decimals or to the three of worksheets."""
    root = math.sqrt(d_k)
    if root == round(root):
        return []
    return [number for to in {decimals, max(3, decimals)} for number in (rounded(1 / root, to), 1 / rounded(root, to))]


def draws(part, count=None):
    for index in range(count or PROBLEMS):
        rng = random.Random(f"{SEED} {part} {index}")
        yield rng, Draw(rng, KINDS[index % len(KINDS)])


def judged(problem, answers):
    """The reports; a problem by its name or as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        path, given = Path(folder, "problem.json"), Path(folder, "answers.jsonl")
        path.write_text(json.dumps(problem), encoding="utf-8")
        path = problem if isinstance(problem, str) else path
        given.write_text("\n".join(answers) + "\n", encoding="utf-8")
        done = run("check", path, given, "--format", "json", "--threads", "1")
        assert done.returncode in (0, 1), done.stderr.decode()
        return json.loads(done.stdout)["answers"]


def last_of(steps):
    return list(steps[-1].values())[-1]


def apart(a, b):
    return max(abs(x - y) for rows in zip(a, b) for x, y in zip(*rows))


class Pencil(unittest.TestCase):
    def test_who_rounds_is_right_whatever_is_left_out(self):
        unfair, count = [], 0
        for rng, draw in draws("right"):
            answers, told = [], []
            for decimals in (1, 2, 3):
                for at_each_step, factor in itertools.product((decimals, None), [None] + factors(draw.d_k, decimals)[:3]):
                    steps = Student(at_each_step, factor).work(draw)
                    all_of_them = every(steps)
                    behind = [(len(steps) - 1, "S1"), all_of_them[-1]]  # nothing that would show the factor before it
                    parts = [[all_of_them[-1]], behind, all_of_them]
                    parts += [[one for one in all_of_them if rng.random() < share] for share in (0.1, 0.4)]
                    for part in filter(None, parts):
                        answers.append(written(steps, decimals, part))
                        told.append(f"{draw.kind}, {decimals} decimals, factor {factor}, each step: {at_each_step}, {part}")
            count += len(answers)
            for report, student in zip(judged(draw.json, answers), told, strict=True):
                if report["verdict"] != "right":
                    unfair.append(f"{student}: {report['first_wrong']}")
        self.assertFalse(unfair, "\n".join([f"{len(unfair)} of {count} are called wrong"] + unfair[:10]))

    def test_who_is_off_by_far_more_than_rounding_costs_is_wrong(self):
        """The last result alone, with two decimals; and a mistake somewhere in what is not handed in."""
        overlooked, counts = [], {"off": 0, "residual_forgotten": 0, "no_scale": 0}
        for rng, draw in draws("wrong"):
            right = last_of(Student().work(draw))
            students = [Student(2)] + [Student(decimals, factor) for decimals in (2, None) for factor in factors(draw.d_k, 2)]
            cost = max(apart(last_of(student.work(draw)), right) for student in students)
            enough = 0.05 + FAR_MORE * cost
            if enough > 2:
                continue  # a row of which a norm sees no more than the roundings
            wrong = {}
            for mistake in ("residual_forgotten", "no_scale"):
                made = Student(2, mistake=mistake).work(draw)
                if apart(last_of(made), right) > enough:
                    wrong[mistake] = made
            off = Student(2).work(draw)
            last = last_of(off)
            row, column = rng.randrange(draw.n), rng.randrange(draw.d)
            last[row][column] += rng.choice([-1, 1]) * max(0.2, enough)
            wrong["off"] = off
            counts["off"] += 1
            for name, report in zip(wrong, judged(draw.json, [written(steps, 2, every(steps)[-1:]) for steps in wrong.values()])):
                counts[name] += name != "off"
                if report["verdict"] != "wrong":
                    overlooked.append(f"{draw.kind}: {name}, cost {cost}, shift {max(0.2, enough)}")
        self.assertFalse(overlooked, "\n".join([f"{len(overlooked)} are called right, {counts}"] + overlooked[:10]))
        self.assertTrue(PROBLEMS < 30 or all(count > PROBLEMS / 12 for count in counts.values()), counts)

    def test_who_writes_e_to_the_z_down_is_right(self):
        rng = random.Random(SEED)
        for _ in range(40):
            n, d, decimals = rng.randint(2, 4), rng.choice([2, 3]), rng.choice([2, 3])
            X = [[round(rng.uniform(-2, 2), 1) for _ in range(d)] for _ in range(n)]
            W = {name: [[round(rng.uniform(-1, 1), 1) for _ in range(d)] for _ in range(d)] for name in "QKV"}
            by_hand = lambda matrix: [[rounded(x, decimals) for x in row] for row in matrix]
            Q, K, V = (by_hand(product(X, W[name])) for name in "QKV")
            S = by_hand(product(Q, turned(K)))
            Z = by_hand([[s / math.sqrt(d) for s in row] for row in S])
            powers = by_hand([[math.exp(z) for z in row] for row in Z])
            A = by_hand([[p / sum(row) for p in row] for row in powers])
            head = by_hand(product(A, V))
            problem = {"X": X, "heads": [{f"W_{name}": W[name] for name in "QKV"}], "W_O": "identity"}
            answer = {"Q1": Q, "K1": K, "V1": V, "S1": S, "Z1": Z, "A1": A, "head1": head}
            with tempfile.TemporaryDirectory() as folder:
                for name, text in (("p", problem), ("a", answer)):
                    (Path(folder) / f"{name}.json").write_text(json.dumps(text))
                result = run("check", Path(folder) / "p.json", Path(folder) / "a.json")
            self.assertEqual(result.returncode, 0, result.stdout.decode()[:600])

    def test_examples(self):
        """Every number of the last result alone, with two decimals, off by so much. Rounding each step costs 0.01 to 0.04."""
        for name, step, off in (("worked", "Y", 0.1), ("block", "R'", 0.25), ("worked_twice", "layer2.Y", 0.25)):
            with tempfile.TemporaryDirectory() as folder:
                self.assertEqual(run("run", name, "-o", Path(folder, "trace.json")).returncode, 0)
                trace = json.loads(Path(folder, "trace.json").read_text(encoding="utf-8"))
            right = trace["layers"][-1]["output"] if "layers" in trace else trace[{"Y": "output", "R'": "mlp_residual"}[step]]
            answers = []
            for i, j, sign in itertools.product(range(len(right)), range(len(right[0])), (-1, 1)):
                answers.append([list(row) for row in right])
                answers[-1][i][j] += sign * off
            verdicts = [report["verdict"] for report in
                        judged(name, [written([{step: answer}], 2, [(0, step)]) for answer in [right] + answers])]
            self.assertEqual(verdicts, ["right"] + ["wrong"] * len(answers), name)


if __name__ == "__main__":
    unittest.main()
