"""Random problems of every kind, as JSON and as NumPy arrays: what the tests of `mha check` know apart from mha."""

import itertools

import numpy as np

INF = np.inf
# What a problem has beside random sizes. Each problem of a row of draws is sure to have one of them.
FEATURES = ["plain", "causal", "biases", "packed", "fused", "grouped", "cross", "batch", "rope", "softcap", "own scale",
            "torch", "window", "padding", "padding batch", "allow", "block", "add", "alibi", "causal and padding",
            "keyless", "corner", "square heads", "narrow heads", "per head", "window causal", "one head", "no scale",
            "large scores", "rope batch", "packed grouped", "alibi three", "cross square", "causal fused",
            "causal keyless", "two items", "causal biases", "causal batch", "wide", "wide causal large", "softcap causal",
            "overflow", "rope causal", "wide cross", "large causal"]


def numbers(rng, style, *shape):
    if style == "whole":
        return rng.integers(-1, 2, shape).astype(float)
    if style == "tenths":
        return np.round(rng.normal(0, 0.6, shape), 1)
    if style == "hundredths":
        return np.round(rng.normal(0, 0.6, shape), 2)
    return rng.normal(0, 0.6, shape)


def slopes(heads):
    """Of Press et al. 2021, for counts that are no power of two as well."""
    power = 2 ** int(np.floor(np.log2(heads)))
    own = [2.0 ** (-8.0 * (i + 1) / power) for i in range(power)]
    return own + [2.0 ** (-8.0 * (i + 1) / (2 * power)) for i in range(0, 2 * (heads - power), 2)]


def distances(queries, keys):
    return np.arange(keys)[None, :] - np.arange(queries)[:, None]


class Problem:
    """X is b×n×d and X_kv b×m×d_kv (b is 1 where there is no batch); W["Q"] holds a matrix for each head, W["K"] and W["V"]
    one for each key/value head, b["Q"] … a row or None for each. `masks` are pairs: kind, what is added to the scores."""

    def __init__(self, rng, feature):
        self.feature = feature
        has = set(feature.split()) | {feature}
        maybe = lambda share: rng.random() < share
        style = str(rng.choice(["whole", "tenths", "hundredths", "full"], p=[0.3, 0.3, 0.25, 0.15]))
        self.cross = "cross" in has or "corner" in has
        self.batch = int(rng.integers(2, 4)) if has & {"batch", "items"} else None
        self.n = int(rng.integers(3 if has & {"causal", "window", "keyless", "per", "alibi"} else 2, 5))
        self.m = self.n if not self.cross or feature == "cross square" else self.n + int(rng.integers(1, 3))
        self.h = 3 if "three" in has else 1 if "one" in has else int(rng.choice([2, 2, 3, 4]))
        self.g = self.h
        if "grouped" in has:
            self.h, self.g = [(4, 2), (6, 3), (6, 2), (4, 2), (3, 1)][int(rng.integers(5))]
        self.d_k = int(rng.choice([2, 2, 3, 4]))
        if "square heads" == feature:  # transposing each head's weights fits
            self.d, self.h, self.g = self.d_k + 1, 2, 2
            self.d_k = self.d
        elif "narrow" in has:
            self.d, self.d_k = int(rng.integers(5, 7)), 3
        else:
            self.d = self.h * self.d_k
        if maybe(0.15) and not has & {"square heads", "packed", "fused"}:
            self.d += 1
        if has & {"rope"} and self.d_k % 2:
            self.d_k += 1
        if "wide" in has:
            self.n, self.h, self.g, self.d_k, self.d = 8, 2, 2, 8, 16
            self.m = self.n + 2 if self.cross else self.n
        self.d_v = self.d_k if "fused" in has or maybe(0.75) else self.d_k + 1
        self.d_kv = self.d if not self.cross or "square" in has or maybe(0.5) else self.d + 1
        self.d_out = self.d if maybe(0.8) else self.d + 1
        items = self.batch or 1
        self.X = numbers(rng, style, items, self.n, self.d)
        self.X_kv = numbers(rng, style, items, self.m, self.d_kv) if self.cross else None
        gain = 12.0 if "large" in has else 60.0 if "overflow" in has else 1.0
        sizes = {"Q": (self.h, self.d, self.d_k), "K": (self.g, self.d_kv, self.d_k), "V": (self.g, self.d_kv, self.d_v)}
        self.W = {name: [numbers(rng, style, rows, cols) * (gain if name != "V" else 1) for _ in range(count)]
                  for name, (count, rows, cols) in sizes.items()}
        biases = "biases" in has or maybe(0.25)
        some = {"Q", "K", "V"} if "fused" in has or maybe(0.6) else {str(rng.choice(["Q", "K", "V"]))}
        self.b = {name: [numbers(rng, style, cols) if biases and name in some else None for _ in range(count)]
                  for name, (count, _, cols) in sizes.items()}
        self.identity = maybe(0.12) and "square" not in has
        self.W_O = None if self.identity else numbers(rng, style, self.h * self.d_v, self.d_out)
        self.b_O = numbers(rng, style, self.d_out) if biases and maybe(0.7) and not self.identity else None
        self.packed = "fused" if "fused" in has else "packed" if "packed" in has else None
        self.torch = "torch" in has or maybe(0.08)
        self.scale = "none" if feature == "no scale" else None
        if feature == "own scale":
            self.scale = float(rng.choice([0.5, 0.125, 0.25, 1.5, 0.3333, 0.7]))
        self.softcap = float(rng.choice([1.5, 2.0, 5.0])) if "softcap" in has else None
        self.rope = None
        if "rope" in has:
            self.rope = {"base": float(rng.choice([10000, 100, 500000, 50])),
                         "pairing": str(rng.choice(["half", "interleaved"])),
                         "dims": 2 if self.d_k == 4 and maybe(0.3) else self.d_k, "start": int(rng.choice([0, 0, 3]))}
        self.masks, self.mask_json = [], []
        self._draw_masks(rng, has, maybe)

    def _draw_masks(self, rng, has, maybe):
        items, n, m, h = self.batch or 1, self.n, self.m, self.h
        apart = distances(n, m)

        def add(kind, json, hidden=None, added=None):
            numbers_added = np.zeros((items, h, n, m)) if added is None else np.broadcast_to(added, (items, h, n, m))
            hides = np.zeros((n, m), bool) if hidden is None else hidden
            self.masks.append((kind, np.where(np.broadcast_to(hides, (items, h, n, m)), -INF, numbers_added)))
            self.mask_json.append(json)

        if "corner" in has:
            if maybe(0.5):
                add("causal", "causal-bottom-right", apart > m - n)
            else:
                add("causal", "causal-top-left", apart > 0)
        elif "causal" in has:
            add("causal", "causal", apart > 0)
        if "window" in has:
            left, right = int(rng.integers(1, 2)), int(rng.integers(0, 2))
            self.window = (left, right)
            add("window", {"window": {"left": left, "right": right}}, (apart < -left) | (apart > right))
        if "padding" in has:
            if self.batch:
                real = np.ones((items, m), int)
                real[0, m - 1] = 0  # the items differ
                if maybe(0.5) and m > 2:
                    real[-1, 0] = 0
                add("padding", {"padding": real.tolist()}, (real == 0)[:, None, None, :])
            else:
                real = np.ones(m, int)
                real[int(rng.integers(1, m))] = 0
                add("padding", {"padding": real.tolist()}, (real == 0)[None, :])
        for kind in has & {"allow", "block"}:
            keep = (rng.random((n, m)) < 0.6).astype(int)
            keep[np.arange(n), rng.integers(0, m, n)] = 1
            keep[0, m - 1], keep[n - 1, 0] = 0, 1  # not symmetric
            keep[0, 0] = 1
            if n == m and not keep.any(axis=0).all():
                keep[:, ~keep.any(axis=0)] = 1
            add(kind, {kind: (keep if kind == "allow" else 1 - keep).tolist()}, keep == 0)
        if "add" in has:
            bias = np.round(rng.normal(0, 1, (n, m)), 1)
            hidden = rng.random((n, m)) < 0.25
            hidden[:, 0] = False
            rows = [["-inf" if hide else x for x, hide in zip(row, hides)] for row, hides in zip(bias.tolist(), hidden)]
            add("add", {"add": rows}, hidden, bias)
        if "per" in has:
            keep = (rng.random((1, h, n, m)) < 0.6).astype(int)
            keep[..., 0] = 1
            add("allow", {"allow": np.broadcast_to(keep, (items, h, n, m)).tolist() if self.batch else keep.tolist()},
                keep == 0)
        if "alibi" in has:
            add("alibi", "alibi", None, -np.array(slopes(h))[:, None, None] * abs(apart))
            if maybe(0.6):
                add("causal", "causal", apart > 0)
        if "keyless" in has:
            if "causal" in has:
                real = np.ones(m, int)
                real[0] = 0
                add("padding", {"padding": real.tolist()}, (real == 0)[None, :])
            else:
                keep = (rng.random((n, m)) < 0.7).astype(int)
                keep[int(rng.integers(0, n))] = 0
                add("allow", {"allow": keep.tolist()}, keep == 0)

    @property
    def large_scores(self):
        return bool({"large", "overflow"} & set(self.feature.split()))

    @property
    def mask(self):
        """What all masks together add; None where there is none."""
        return sum(mask for _, mask in self.masks) if self.masks else None

    @property
    def keep(self):
        return self.mask != -INF

    @property
    def hides(self):
        return bool(self.masks) and not self.keep.all()

    @property
    def keyless(self):
        """Of every row of scores: whether it may attend to nothing."""
        return ~self.keep.any(axis=-1) if self.masks else np.zeros((self.batch or 1, self.h, self.n), bool)

    def as_json(self):
        turned = lambda W: (W.T if self.torch else W).tolist()
        item = lambda X: X.tolist() if self.batch else X[0].tolist()
        result = {"X": item(self.X)}
        if self.cross:
            result["X_kv"] = item(self.X_kv)
        if self.packed:
            result["num_heads"] = self.h
            if self.g != self.h:
                result["num_kv_heads"] = self.g
            wide = {name: np.concatenate(self.W[name], axis=1) for name in "QKV"}
            rows = {name: np.concatenate(self.b[name]) for name in "QKV" if self.b[name][0] is not None}
            if self.packed == "fused":
                result["W_QKV"] = turned(np.concatenate([wide[name] for name in "QKV"], axis=1))
                if rows:
                    result["b_QKV"] = np.concatenate([rows[name] for name in "QKV"]).tolist()
            else:
                result |= {f"W_{name}": turned(W) for name, W in wide.items()}
                result |= {f"b_{name}": b.tolist() for name, b in rows.items()}
        else:
            def parts(names, index):
                own = {f"W_{name}": turned(self.W[name][index]) for name in names}
                return own | {f"b_{name}": self.b[name][index].tolist() for name in names if self.b[name][index] is not None}
            grouped = self.g != self.h
            result["heads"] = [parts("Q" if grouped else "QKV", i) for i in range(self.h)]
            if grouped:
                result["kv_heads"] = [parts("KV", i) for i in range(self.g)]
        result["W_O"] = "identity" if self.identity else turned(self.W_O)
        if self.b_O is not None:
            result["b_O"] = self.b_O.tolist()
        if self.torch:
            result["layout"] = "torch"
        if self.mask_json:
            result["mask"] = self.mask_json[0] if len(self.mask_json) == 1 else self.mask_json
        for key in ("scale", "softcap", "rope"):
            if getattr(self, key) is not None:
                result[key] = getattr(self, key)
        return result


def problems(seed, count):
    """In turn one with each feature."""
    for index, feature in zip(range(count), itertools.cycle(FEATURES)):
        yield Problem(np.random.default_rng([seed, index]), feature)
