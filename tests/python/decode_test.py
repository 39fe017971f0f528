# Token by token: every row against a decoder in NumPy with a cache of its own, the JSON against its schema, and refusals.
import functools
import json
import math
import tempfile
import unittest
from pathlib import Path

import numpy as np
from jsonschema import Draft202012Validator

from mha import MHA, SOURCE, run
from random_problems import slopes

CASES = SOURCE / "tests" / "cases"
WEIGHTS = [[1], [.330, .670], [.620, .306, .074], [.037, .018, .312, .632]]  # head 1 of the example causal


def output(*arguments, **options):
    result = run(*arguments, **options)
    assert result.returncode == 0, (arguments, result.stderr.decode())
    return result.stdout.decode()


def page(*arguments):
    return " ".join(output("decode", *arguments, "--lang", "en").split())


def decoded(*arguments, problem=None):
    text = None if problem is None else json.dumps(problem).encode()
    return json.loads(output("decode", *arguments, "--format", "json", **({} if text is None else {"input": text})))


def refusal(*arguments, problem=None):
    result = run("decode", *arguments, **({} if problem is None else {"input": json.dumps(problem).encode()}))
    assert result.returncode == 2, (arguments, result)
    return result.stderr.decode().strip()


def numbers(matrix):
    return np.array(matrix, float)  # "-inf" is a number to NumPy


@functools.cache
def schema():
    return Draft202012Validator(json.loads(output("schema", "decode")))


# A decoder of its own: loops over tokens, lists that grow.

def activation(name, x):
    erf = np.vectorize(math.erf)
    return {"relu": lambda: np.maximum(x, 0), "gelu": lambda: x * 0.5 * (1 + erf(x / math.sqrt(2))),
            "gelu_tanh": lambda: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
            "silu": lambda: x / (1 + np.exp(-x)), "none": lambda: x}[name]()


def normalised(rule, x):
    centre = x.mean() if rule["kind"] == "layer" else 0.0
    result = (x - centre) / math.sqrt(((x - centre)**2).mean() + rule.get("eps", 1e-5))
    return result * np.array(rule.get("gamma", 1.0)) + np.array(rule.get("beta", 0.0))


class Layer:
    """One layer's rules, and its cache: a list of rows for each key/value head; None is a row that a window has dropped."""

    def __init__(self, rules, mistake=None, right=0):
        self.rules, self.mistake, self.right = rules, mistake, right  # so many rows come before the mistake
        turn = (lambda W: numbers(W).T) if rules.get("layout") == "torch" else numbers
        self.turn = turn
        linear = lambda of, name: (turn(of[f"W_{name}"]), numbers(of.get(f"b_{name}", 0.0)))
        if "num_heads" in rules:
            self.h = rules["num_heads"]
            self.g = rules.get("num_kv_heads", self.h)
            cut = lambda name, count: [(W, b) for W, b in zip(
                np.split(turn(rules[f"W_{name}"]), count, axis=1),
                np.split(numbers(rules[f"b_{name}"]), count) if f"b_{name}" in rules else [0.0] * count)]
            self.Q, self.K, self.V = cut("Q", self.h), cut("K", self.g), cut("V", self.g)
        else:
            own = rules.get("kv_heads", rules["heads"])
            self.h, self.g = len(rules["heads"]), len(own)
            self.Q = [linear(head, "Q") for head in rules["heads"]]
            self.K, self.V = ([linear(head, name) for head in own] for name in "KV")
        self.d_k, self.d_v = self.K[0][0].shape[1], self.V[0][0].shape[1]
        self.keys, self.values = [[] for _ in range(self.g)], [[] for _ in range(self.g)]
        masks = rules.get("mask", [])
        self.masks = masks if isinstance(masks, list) else [masks]

    def rotated(self, row, i, is_key):
        rope, made = self.rules.get("rope"), self.mistake or ""
        if rope is None:
            return row
        dims, row = rope.get("dims", len(row)), row.copy()
        place = rope["positions"][i] if "positions" in rope else rope.get("start", 0) + i
        if made.startswith("rope_restarted") and i >= self.right and not (is_key and "keys" not in made):
            place = i - self.right if "counted" in made else 0
        for t in range(dims // 2):
            a, b = (t, t + dims // 2) if rope.get("pairing", "half") == "half" else (2 * t, 2 * t + 1)
            angle = place * rope.get("base", 10000.0) ** (-2 * t / dims)
            row[a], row[b] = (row[a] * math.cos(angle) - row[b] * math.sin(angle),
                              row[a] * math.sin(angle) + row[b] * math.cos(angle))
        return row

    def added(self, head, i, j):
        total = 0.0
        for mask in self.masks:
            kind = mask if isinstance(mask, str) else next(iter(mask))
            value = None if isinstance(mask, str) else mask[kind]
            if kind == "causal":
                total += -math.inf if j > i else 0
            elif kind == "window":
                total += -math.inf if j < i - value["left"] or j > i + value["right"] else 0
            elif kind == "alibi":
                total -= slopes(self.h)[head] * (i - j)
            elif kind == "padding":
                total += 0 if value[j] else -math.inf
            elif kind == "add":
                total += float(value[i][j])
            else:
                total += -math.inf if value[i][j] != (kind == "allow") else 0
        return total

    def left(self):
        limits = [mask["window"]["left"] for mask in self.masks if isinstance(mask, dict) and "window" in mask]
        return min((limit for limit in limits if limit is not None), default=None)

    def drop(self, done):
        """No query from `done` on sees what lies further back."""
        if self.left() is not None:
            for cache in (*self.keys, *self.values):
                for j in range(min(done, max(0, done - self.left()))):
                    cache[j] = None

    def attend(self, x, i, m, seen):
        """One row of the attention's output, of m keys; its steps go into `seen`."""
        heads = []
        for head in range(self.h):
            kv = head // (self.h // self.g)
            project = lambda linears, which: x @ linears[which][0] + linears[which][1]
            q, k, v = project(self.Q, head), project(self.K, kv), project(self.V, kv)
            own = {"Q": q, "K": k, "V": v}
            q = self.rotated(q, i, False)
            if "rope" in self.rules:
                own |= {"Q_rot": q, "K_rot": self.rotated(k, i, True)}
            scale = self.rules.get("scale", 1 / math.sqrt(self.d_k))
            order = -1 if self.mistake == "cache_reversed" else 1
            raw = [-math.inf if k is None else q @ k for k in self.keys[kv][:m][::order]]
            if self.mistake == "causal_strict" and i >= self.right:
                raw[-1] = -math.inf
            own["scores"] = raw
            z = [s if scale == "none" or s == -math.inf else s * scale for s in raw]
            if scale != "none":
                own["scaled"] = z
            if "softcap" in self.rules:
                cap = self.rules["softcap"]
                z = own["capped"] = [s if s == -math.inf else cap * math.tanh(s / cap) for s in z]
            z = own["masked"] = [s + self.added(head, i, j) for j, s in enumerate(z)]
            power = [0.0 if s == -math.inf else math.exp(s - max(z)) for s in z]  # 0 where there is no key
            own["weights"] = [p / sum(power) if sum(power) else 0.0 for p in power]
            own["head_output"] = sum((w * v for w, v in zip(own["weights"], self.values[kv][::order]) if v is not None),
                                     np.zeros(self.d_v))
            heads.append(own)
        concat = np.concatenate([own["head_output"] for own in heads])
        y = concat if self.rules["W_O"] == "identity" else concat @ self.turn(self.rules["W_O"])
        y = y + numbers(self.rules.get("b_O", 0.0))
        seen.update(heads=heads, concat=concat, output=y)
        return y

    def write(self, x, i):
        for kv in range(self.g):
            self.keys[kv].append(self.rotated(x @ self.K[kv][0] + self.K[kv][1], i, True))
            self.values[kv].append(x @ self.V[kv][0] + self.V[kv][1])

    def rows(self, xs, first):
        """The new rows: all of them are written before the first is read."""
        rules, post = self.rules, self.rules.get("norm_place") == "post"
        norm, mlp_norm, mlp = rules.get("norm"), rules.get("mlp_norm"), rules.get("mlp")
        reads = [normalised(norm, x) if norm and not post else x for x in xs]
        for i, x in enumerate(reads):
            self.write(x, first + i)
        results = []
        for i, (x, read) in enumerate(zip(xs, reads)):
            seen = {"norm": read} if norm and not post else {}
            y = self.attend(read, first + i, first + len(xs), seen)
            if rules.get("residual"):
                y = seen["residual"] = x + y
            if norm and post:
                y = seen["norm"] = normalised(norm, y)
            if mlp:
                into = y
                if mlp_norm and not post:
                    into = seen["mlp_norm"] = normalised(mlp_norm, y)
                hidden = seen["hidden"] = into @ self.turn(mlp["W_1"]) + numbers(mlp.get("b_1", 0.0))
                if "W_gate" in mlp:
                    seen["gate"] = into @ self.turn(mlp["W_gate"]) + numbers(mlp.get("b_gate", 0.0))
                    hidden = hidden * activation(mlp["activation"], seen["gate"])
                else:
                    hidden = activation(mlp["activation"], hidden)
                seen["activated"] = hidden
                out = seen["mlp"] = hidden @ self.turn(mlp["W_2"]) + numbers(mlp.get("b_2", 0.0))
                if rules.get("residual"):
                    out = seen["mlp_residual"] = y + out
                if mlp_norm and post:
                    out = seen["mlp_norm"] = normalised(mlp_norm, out)
                y = out
            results.append((y, seen))
        self.drop(first + len(xs))
        return results


def decode(problem, prompt, mistake=None, right=0):
    """The steps: for each layer a list of what the new rows have seen; with a mistake in all rows but the first `right`."""
    common = {key: problem[key] for key in ("layout",) if key in problem}
    layers = [Layer(common | rules, mistake, right) for rules in problem.get("layers", [problem])]
    X, steps, first = numbers(problem["X"]), [], 0
    while first < len(X):
        count = prompt if first == 0 else 1
        xs, told = list(X[first:first + count]), []
        for layer in layers:
            results = layer.rows(xs, first)
            xs = [y for y, _ in results]
            told.append([seen for _, seen in results])
        final = [normalised(problem["final_norm"], x) for x in xs] if "final_norm" in problem else None
        steps.append((first, count, told, final))
        first += count
    return layers, steps


def same_output(steps, others):
    outputs = [[row["output"] for _, _, told, _ in side for row in told[0]] for side in (steps, others)]
    return np.allclose(*outputs, atol=1e-9)


# Problems drawn at random; each names the features that it has.

FEATURES = ("plain", "grouped", "rope", "rope interleaved start", "rope positions", "window", "window grouped rope", "alibi",
            "softcap", "packed", "packed grouped biases", "torch", "padding", "add", "allow", "identity", "block", "block post",
            "block gate window", "stack", "stack window rope", "stack grouped block", "stack final", "window padding", "scale",
            "unscaled", "window self")


def draw_layer(rng, has, n, d):
    draw = lambda *shape: np.round(rng.normal(0, 0.7, shape), 2)
    torch = "torch" in has
    weight = lambda rows, cols: (draw(cols, rows) if torch else draw(rows, cols)).tolist()
    h, g = (4, 2) if "grouped" in has else (3, 3) if "alibi" in has else (2, 2)
    d_k, d_v = (4 if "rope" in has else 3), (3 if rng.random() < 0.5 else 2)
    layer = {"W_O": weight(h * d_v, d), "b_O": draw(d).tolist()}
    biases = "biases" in has or rng.random() < 0.3
    if "packed" in has:
        layer |= {"num_heads": h, "W_Q": weight(d, h * d_k), "W_K": weight(d, g * d_k), "W_V": weight(d, g * d_v)}
        if g != h:
            layer["num_kv_heads"] = g
        if biases:
            layer |= {"b_Q": draw(h * d_k).tolist(), "b_K": draw(g * d_k).tolist(), "b_V": draw(g * d_v).tolist()}
    else:
        def head(names):
            own = {f"W_{name}": weight(d, d_v if name == "V" else d_k) for name in names}
            return own | ({f"b_{name}": draw(d_v if name == "V" else d_k).tolist() for name in names} if biases else {})
        layer["heads"] = [head("Q" if g != h else "QKV") for _ in range(h)]
        if g != h:
            layer["kv_heads"] = [head("KV") for _ in range(g)]
    if "identity" in has:
        layer["W_O"] = "identity"
        del layer["b_O"]
    masks = ["causal"]
    if "window" in has:
        masks.append({"window": {"left": 0 if "self" in has else int(rng.integers(1, 3)), "right": 0}})
        masks = masks if rng.random() < 0.5 else masks[1:]  # the window alone hides what comes later
    if "alibi" in has:
        masks.append("alibi")
    if "padding" in has:
        real = np.ones(n, int)
        real[int(rng.integers(0, n))] = 0
        masks.append({"padding": real.tolist()})
    if "add" in has:
        masks.append({"add": draw(n, n).tolist()})
    if "allow" in has:
        masks = [{"allow": (np.tril(rng.random((n, n)) < 0.7).astype(int)).tolist()}]
    layer["mask"] = masks if len(masks) > 1 else masks[0]
    if "rope" in has:
        layer["rope"] = {"base": 100.0, "pairing": "interleaved" if "interleaved" in has else "half",
                         "dims": 2 if rng.random() < 0.3 else 4}
        if "start" in has:
            layer["rope"]["start"] = 5
        if "positions" in has:
            layer["rope"]["positions"] = sorted(int(p) for p in rng.integers(0, 20, n))
    if "softcap" in has:
        layer["softcap"] = 1.5
    if "scale" in has:
        layer["scale"] = 0.3
    if "unscaled" in has:
        layer["scale"] = "none"
    if "block" in has:
        rms = rng.random() < 0.5
        norm = lambda: {"kind": "rms", "gamma": draw(d).tolist()} if rms else {"kind": "layer", "beta": draw(d).tolist()}
        layer |= {"residual": True, "norm": norm(), "mlp_norm": norm(), "norm_place": "post" if "post" in has else "pre",
                  "mlp": {"W_1": weight(d, 5), "b_1": draw(5).tolist(), "W_2": weight(5, d),
                          "activation": str(rng.choice(["relu", "gelu", "gelu_tanh", "silu"]))}}
        if "gate" in has:
            layer["mlp"]["W_gate"] = weight(d, 5)
    return layer


def draw_problem(rng, feature):
    has, n, d = set(feature.split()), int(rng.integers(2, 7)), 4
    problem = {"X": np.round(rng.normal(0, 1, (n, d)), 2).tolist()}
    if "torch" in has:
        problem["layout"] = "torch"
    if "stack" in has:
        problem["layers"] = [draw_layer(rng, has, n, d) for _ in range(2)]
    else:
        problem |= draw_layer(rng, has, n, d)
    if "final" in has:
        problem["final_norm"] = {"kind": "layer"}
    return problem


class Decoding(unittest.TestCase):
    def near(self, mine, theirs, where, most=1e-12):
        mine, theirs = numbers(mine), numbers(theirs)
        self.assertEqual(mine.shape, theirs.shape, where)
        hidden = np.isneginf(mine)
        np.testing.assert_array_equal(hidden, np.isneginf(theirs), str(where))
        np.testing.assert_allclose(theirs[~hidden], mine[~hidden], rtol=most, atol=most, err_msg=str(where))

    def check(self, found, problem, prompt, where):
        layers, steps = decode(problem, prompt)
        self.assertEqual([(step["first"], step["count"]) for step in found["steps"]],
                         [(first + 1, count) for first, count, _, _ in steps])
        for step, (first, count, told, final) in zip(found["steps"], steps):
            told_layers = step["layers"] if "layers" in problem else [step]
            for layer, rows in zip(told_layers, told, strict=True):
                for name in rows[0]:
                    if name != "heads":
                        self.near([row[name] for row in rows], layer[name], (where, first, name))
                for head in range(len(layer["heads"])):
                    for name in rows[0]["heads"][head]:
                        self.near([row["heads"][head][name] for row in rows], layer["heads"][head][name],
                                  (where, first, name, head))
                    wanted = (count, first + count)
                    self.assertEqual(numbers(layer["heads"][head]["weights"]).shape, wanted)
            if final is not None:
                self.near(final, step["final_norm"], (where, first, "final_norm"))
        kept = found["cache"]["layers"] if "layers" in problem else [found["cache"]]
        size = 0
        for layer, cache in zip(layers, kept, strict=True):
            for kv, (own, theirs) in enumerate(zip(zip(layer.keys, layer.values), cache["heads"], strict=True)):
                self.assertEqual(theirs["kv_head"], kv + 1)
                for rows, name in zip(own, "KV"):
                    rows = [row for row in rows if row is not None]
                    self.assertEqual(len(theirs[name]), len(rows), (where, name))
                    if rows:
                        self.near(rows, theirs[name], (where, "cache", name))
                    size += sum(len(row) for row in rows)
        n = len(problem["X"])
        self.assertEqual(found["cost"]["cache_numbers"], size)
        self.assertEqual(found["cost"]["projected_tokens"], {"cached": n, "anew": sum(range(prompt, n + 1))})

    def test_every_row_is_that_of_a_decoder_in_numpy(self):
        for index, feature in enumerate(FEATURES * 2):
            rng = np.random.default_rng([10, index])
            problem = draw_problem(rng, feature)
            prompt = int(rng.integers(1, len(problem["X"]) + 1))
            found = decoded("-", "--prompt", str(prompt), problem=problem)
            schema().validate(found)
            self.check(found, problem, prompt, (feature, index))
            self.assertEqual(found["difference"], 0, feature)

    def test_float32_and_rounding(self):
        for feature in ("window grouped rope", "stack window rope", "block gate window"):
            problem = draw_problem(np.random.default_rng(3), feature)
            exact = decoded("-", problem=problem)
            for options, most in ((["--dtype", "f32"], 1e-3), (["--round", "3"], 0.1)):
                found = decoded("-", *options, problem=problem)
                self.assertEqual(found["difference"], 0)
                for step, other in zip(found["steps"], exact["steps"]):
                    own, right = (one["layers"][-1] if "layers" in one else one for one in (step, other))
                    self.near(right["output"], own["output"], options, most)

    def test_the_difference_is_0_with_the_kernels_of_large_problems(self):
        rng = np.random.default_rng(4)
        d = 64
        problem = {"X": rng.normal(0, 1, (d, d)).tolist(), "num_heads": 4, "mask": "causal",
                   **{f"W_{name}": (rng.normal(0, 1, (d, d)) / 8).tolist() for name in "QKVO"}}
        for options in ([], ["--prompt", "37"]):
            # Under the sanitizers clang does not fuse every product and sum of other cuts of rows alike.
            most = 1e-12 if MHA.parent.name == "build-asan" else 0
            self.assertLessEqual(decoded("-", *options, problem=problem)["difference"], most)

    def test_cases(self):
        for case, prompt in (("alibi_causal", 1), ("softcap_causal", 2), ("causal_bias_dv3", 1), ("mask_causal_and_padding", 2)):
            file = CASES / case / "problem.json"
            self.check(decoded(file, "--prompt", str(prompt)), json.loads(file.read_text()), prompt, case)

    def test_the_example(self):
        found = decoded("causal")
        for step, row in zip(found["steps"], WEIGHTS, strict=True):
            self.near([row], step["heads"][0]["weights"], "golden", 6e-4)
        self.assertEqual(found["cost"]["projected_tokens"], {"cached": 4, "anew": 10})
        self.assertEqual(found["cost"]["cache_numbers"], 4 * 2 * (2 + 2))
        # of rows·d·d each: 3 projections and W_O; then q·Kᵀ and A·V, 2 heads of 2 columns
        cost = lambda rows, keys: rows * (4 * 16 + 2 * 2 * 2 * keys)
        self.assertEqual(found["cost"]["multiply_adds"],
                         {"cached": sum(cost(1, t) for t in range(1, 5)), "anew": sum(cost(t, t) for t in range(1, 5))})
        text = page("causal", "--heads", "1")
        for words in ("1.000", "0.330 0.670", "0.620 0.306 0.074", "0.037 0.018 0.312 0.632", "1 + 2 + 3 + 4 = 10",
                      "Within a step all heads are computed at once, but step t+1 needs the token that step t wrote",
                      "computes at once: 0.", "Step 3 of 4 · token 3 (sat)", "new: 3; read, not computed again: 1–2"):
            self.assertIn(words, text)

    def test_the_run_has_the_same_rows(self):
        for name in ("causal", "rotary", "stack", "induction"):
            trace, found = json.loads(output("run", name, "--format", "json")), decoded(name)
            last = lambda one: one["layers"][-1]["output"] if "layers" in one else one["output"]
            self.assertEqual(sum((last(step) for step in found["steps"]), []), last(trace))

    def test_grouped_heads_have_one_cache(self):
        problem = draw_problem(np.random.default_rng(5), "grouped")
        found = decoded("-", problem=problem)
        self.assertEqual([cache["kv_head"] for cache in found["cache"]["heads"]], [1, 2])
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "p.json"
            file.write_text(json.dumps(problem))
            text = page(file)
        self.assertIn("Cache K⁽ᵏᵛ¹⁾, V⁽ᵏᵛ¹⁾", text)
        self.assertIn("key/value head 1 has one cache, shown in head 1", text)

    def test_a_window_drops_rows_and_says_so(self):
        text = page("rotary", "--heads", "1")
        self.assertIn("window: leaving the cache, since no later query can see it: key 1", text)
        self.assertIn("new: 4; read, not computed again: 2–3", text)
        step = decoded("rotary")["steps"][3]
        for name in ("scores", "scaled", "capped", "masked"):
            self.assertEqual(step["heads"][0][name][0][0], "-inf")
        self.assertEqual(step["heads"][0]["weights"][0][0], 0)
        problem = draw_problem(np.random.default_rng(1), "window self")
        problem["X"] = problem["X"][:2]
        text = " ".join(output("decode", "-", "--prompt", "2", "--lang", "en", input=json.dumps(problem).encode()).split())
        self.assertIn("window: leaving the cache, since no later query can see them: keys 1–2", text)
        self.assertIn("Cache at the end: 0 numbers", text)

    def test_positions_and_names_are_those_of_the_whole(self):
        text = page("rotary", "--steps", "Q_rot,masked", "--heads", "1")
        for place in range(4):
            self.assertIn(f"position {place}; columns", text)
        problem = {"X": [[1.0], [2.0], [3.0]], "heads": [{"W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}], "W_O": "identity",
                   "tokens": ["a", "b", "c"], "mask": ["causal", {"allow": [[1, 0, 0], [1, 1, 0], [0, 0, 0]]}]}
        told = run("decode", "-", "--lang", "en", input=json.dumps(problem).encode())
        for words in (told.stdout.decode(), told.stderr.decode()):
            self.assertIn("query 3 (c) may attend to no key", words)
        problem["mask"] = ["causal", {"padding": [1, 0, 1]}]
        text = output("decode", "-", "--lang", "en", input=json.dumps(problem).encode())
        self.assertIn("padding: key 2 (b) is no token", text)

    def test_steps_heads_and_layers_are_chosen(self):
        found = decoded("causal", "--steps", "weights", "--heads", "2")
        for step in found["steps"]:
            self.assertEqual(list(step), ["first", "count", "heads"])
            self.assertEqual([(head["head"], list(head)) for head in step["heads"]], [(2, ["head", "weights"])])
        schema().validate(found)
        found = decoded("stack", "--layers", "2")
        self.assertEqual([[layer["layer"] for layer in step["layers"]] for step in found["steps"]], [[2]] * 7)
        self.assertEqual([layer["layer"] for layer in found["cache"]["layers"]], [1, 2, 3])

    def test_a_batch_is_shown_item_by_item(self):
        rng = np.random.default_rng(6)
        items = [draw_problem(rng, "plain")["X"] for _ in range(2)]
        n = min(map(len, items))
        one = draw_problem(rng, "plain") | {"X": [item[:n] for item in items]}
        one["mask"] = ["causal", {"padding": [[1] * n, [1] * (n - 1) + [0]]}]
        self.assertIn("batch of 2; choose an item with --batch", refusal("-", problem=one))
        for number in (1, 2):
            own = one | {"X": one["X"][number - 1], "mask": ["causal", {"padding": one["mask"][1]["padding"][number - 1]}]}
            found = decoded("-", "--batch", str(number), problem=one)
            self.assertEqual(found, decoded("-", problem=own))
            self.check(found, own, 1, number)
        text = output("decode", "-", "--batch", "2", "--lang", "en", input=json.dumps(one).encode())
        self.assertIn("Item 2 of 2", text)

    def test_what_needs_later_tokens_is_refused(self):
        worked = json.loads((SOURCE / "data" / "worked.json").read_text())
        self.assertIn("the step weights needs tokens that are written later: query 1 may look at key 2", refusal("worked"))
        self.assertIn("query 0 may look at key 1", refusal("worked", "--index-base", "0"))
        self.assertIn("the step layer1.weights needs tokens", refusal("worked_twice"))
        self.assertIn("the steps K and V read X_kv", refusal("cross"))
        for mask in ({"window": {"left": 1, "right": 1}}, {"padding": [1, 1, 1]}, {"causal": {"align": 1}}, "alibi"):
            self.assertIn("query 1 may look at key 2", refusal("-", problem=worked | {"mask": mask}))
        decoded("-", problem=worked | {"mask": {"padding": [1, 0, 0]}})  # nobody looks at what comes later
        decoded("-", problem=worked | {"mask": {"causal": {"align": -1}}})
        self.assertTrue(refusal("worked").startswith("mha: worked: mask: "))
        self.assertIn("(mask causal shifted by 1)", refusal("-", problem=worked | {"mask": {"causal": {"align": 1}}}))
        self.assertTrue(refusal("cross").startswith("mha: cross: X_kv: "))
        stack = json.loads((SOURCE / "data" / "stack.json").read_text())
        stack["layers"][1].pop("mask")
        self.assertIn("mha: -: layers[1].mask: the step layer2.weights needs tokens", refusal("-", problem=stack))
        for prompt in ("0", "5", "x"):
            self.assertIn("--prompt", refusal("causal", "--prompt", prompt))

    def test_large_negative_numbers_hide_as_minus_infinity_does(self):
        worked = json.loads((SOURCE / "data" / "worked.json").read_text())
        causal = decoded("-", problem=worked | {"mask": "causal"})
        for number in (-1e9, float(np.finfo(np.float32).min), -1e4):
            mask = {"add": np.triu(np.full((3, 3), number), 1).tolist()}
            for more in ((), ("--dtype", "f32"), ("--round", "3")):
                self.assertEqual(decoded("-", *more, problem=worked | {"mask": mask})["difference"], 0)
            self.assertEqual([step["output"] for step in decoded("-", problem=worked | {"mask": mask})["steps"]],
                             [step["output"] for step in causal["steps"]])
        for mask in ([[0, -9, -9], [0, 0, -9], [0, 0, 0]], [[-1e9, -1e9, -1e9], [0, 0, -1e9], [0, 0, 0]]):
            for more in ((), ("--round", "2")):  # weights that are not 0, though they may be rounded to it
                self.assertIn("query 1 may look at key 2 (mask add)",
                              refusal("-", *more, problem=worked | {"mask": {"add": mask}}))

    def test_the_page_has_the_description(self):
        text = json.loads((SOURCE / "data" / "causal.json").read_text())["description"]["en"]
        self.assertIn(" ".join(text.split()), page("causal"))

    def test_a_decoder_that_makes_a_mistake_is_told_which(self):
        restarted = ["rope_restarted" + more for more in ("", " counted", " keys", " counted keys")]
        made = [("cache_reversed", feature, 1, 0) for feature in ("plain", "grouped")]
        made += [(mistake, feature, 1, 0) for mistake, feature in
                 (("causal_strict", "plain"), ("rope_restarted", "rope"), ("rope_restarted", "rope interleaved start"))]
        made += [("causal_strict", feature, prompt, prompt) for feature in ("plain", "window", "allow") for prompt in (1, 2, 3)]
        made += [(mistake, feature, prompt, prompt) for mistake in restarted
                 for feature in ("rope", "rope interleaved start", "rope positions") for prompt in (1, 2)]
        for mistake, feature, prompt, right in made:
            for seed in range(3 if right == 0 else 2):
                problem = draw_problem(np.random.default_rng([11, seed]), feature)
                n = len(problem["X"])
                if n <= prompt or mistake.startswith("rope_restarted counted") and n <= prompt + 1:
                    continue
                steps, truth = decode(problem, prompt, mistake, right)[1], decode(problem, prompt)[1]
                if same_output(steps, truth):
                    continue
                rows = [row for _, _, told, _ in steps for row in told[0]]
                names = ["weights", "head_output"] + (["scores"] if mistake != "causal_strict" else [])
                fill = {"scores": None, "weights": 0, "head_output": 0}
                wide = lambda row, name: ([None if x == -math.inf else x for x in row]
                                          + [fill[name]] * (n - len(row) if name != "head_output" else 0))
                heads = [{name: [wide(row["heads"][head][name], name) for row in rows] for name in names}
                         for head in range(len(rows[0]["heads"]))]
                answer = {"heads": heads, "output": [list(row["output"]) for row in rows]}
                with tempfile.TemporaryDirectory() as folder:
                    for name, content in (("p", problem), ("a", answer)):
                        Path(f"{folder}/{name}.json").write_text(json.dumps(content))
                    result = run("check", f"{folder}/p.json", f"{folder}/a.json", "--format", "json")
                report = json.loads(result.stdout)["answers"][0]
                about = (mistake, feature, prompt, right, seed)
                self.assertEqual(report["verdict"], "wrong", about)
                told = set(report["mistakes"]) - ({"rope_missing", "rope_along_heads"} if (mistake, right) == ("rope_restarted keys", 1) else set())
                self.assertEqual(told, {mistake.split()[0]}, about)

    def test_what_is_no_number_is_not_called_equal(self):
        problem = json.loads((SOURCE / "data" / "causal.json").read_text())
        problem["X"][2] = [1e200 * (number + 1) for number in problem["X"][2]]
        text = json.dumps(problem).encode()
        trace = json.loads(output("run", "-", "-q", "--format", "json", input=text))
        rows = {i for head in trace["heads"] for step in head.values() if isinstance(step, list)
                for i, row in enumerate(step, 1) if "nan" in row}
        self.assertEqual(rows, {3})
        told = decoded("-", problem=problem)
        self.assertEqual(told["difference"], "nan")
        schema().validate(told)
        for language, sentence in (("en", "Not comparable, since they hold NaN here and in `mha run`: rows 3."),
                                   ("zh", "第 3 行中有 NaN，在 `mha run` 中也是，因此无法比较。")):
            self.assertIn(sentence, " ".join(output("decode", "-", "--lang", language, input=text).split()))

    def test_files_and_formats(self):
        with tempfile.TemporaryDirectory() as folder:
            output("decode", "causal", "-o", f"{folder}/d.json")
            self.assertEqual(json.loads(Path(f"{folder}/d.json").read_text()), decoded("causal"))
            output("decode", "causal", "--lang", "en", "-o", f"{folder}/d.html")
            html = Path(f"{folder}/d.html").read_text()
            output("decode", "causal", "--lang", "zh", "-o", f"{folder}/d.txt")
            text = Path(f"{folder}/d.txt").read_text()
        for words in ("Step 3 of 4", "read, not computed again: 1–2", "What the cache saves"):
            self.assertIn(words, html)
        for words in ("多头注意力，逐个词元", "第 3 步（共 4 步） · 词元 3（sat）", "但第 t+1 步要用到第 t 步写出的词元",
                      "1 + 2 + 3 + 4 = 10", "缓存"):
            self.assertIn(words, "".join(text.split("\n")))

    def test_the_schemas_share_their_parts(self):
        trace, own = (json.loads(output("schema", name))["$defs"] for name in ("trace", "decode"))
        for name in set(trace) & set(own):
            self.assertEqual(trace[name], own[name], name)


if __name__ == "__main__":
    unittest.main()
