"""Multi-head attention in NumPy, step by step, right or with one of the known mistakes; it shares no code with mha.

A step's result is b×heads×rows×columns, b and heads 1 where there is no batch or no head. What a step reads is what the
steps before it have kept: rounded, or in another dtype, as `keep` has it.
"""

import numpy as np

from random_problems import INF, distances

ORDER = ["packed.Q", "packed.K", "packed.V", "Q", "K", "V", "Q_rot", "K_rot", "scores", "scaled", "capped", "masked",
         "weights", "head_output", "concat", "output"]
PER_HEAD = set(ORDER[3:14])


class DoesNotFit(Exception):
    """The mistake cannot be made on this problem."""


def need(condition):
    if not condition:
        raise DoesNotFit


def turned(K):
    return np.swapaxes(K, -1, -2)


def softmax(z, axis=-1, base=np.e, one_more=False, maximum=True):
    """Rows of −∞ alone become 0."""
    with np.errstate(all="ignore"):
        largest = z.max(axis=axis, keepdims=True)
        largest = np.where(np.isneginf(largest), 0, largest).astype(z.dtype)
        shifted = z - largest if maximum else z
        power = np.exp(shifted) if base == np.e else np.power(z.dtype.type(base), shifted)
        total = power.sum(axis=axis, keepdims=True)
        if one_more:
            total = total + 1
        return power / np.where(total == 0, 1, total) if maximum else power / total


def newest_first(rows):
    """What row i has seen so far, in reverse."""
    result = rows.copy()
    for i in range(rows.shape[-2]):
        result[..., i, :i + 1] = rows[..., i, i::-1]
    return result


class Attention:
    """`keep(step, numbers)` is what is left of a result for the next step. `extra` is what a form of right work changes."""

    def __init__(self, problem, mistake=None, keep=None, dtype=np.float64, rng=None, **extra):
        self.p, self.mistake, self.dtype, self.extra = problem, mistake, dtype, extra
        self.rng = rng if rng is not None else np.random.default_rng(0)
        self.keep = keep or (lambda step, numbers: numbers)
        self.steps = {}
        self.detail = None

    def store(self, step, numbers):
        with np.errstate(all="ignore"):
            self.steps[step] = self.keep(step, np.asarray(numbers).astype(self.dtype))
        return self.steps[step]

    def cast(self, numbers):
        return None if numbers is None else np.asarray(numbers).astype(self.dtype)

    def compute(self):
        with np.errstate(all="ignore"):
            Q, K, V = self.projections()
            Q, K, V = self.rotations(Q, K, V)
            Z = self.masked(self.capped(self.scaled(self.scores(Q, K, V))))
            A = self.weights(Z)
            self.output(self.concat(self.head_output(A, Q, K, V)))
        return self.steps

    # Projections

    def parts(self, name):
        return [(self.cast(W), self.cast(b)) for W, b in zip(self.p.W[name], self.p.b[name])]

    def projections(self):
        p, m = self.p, self.mistake
        same_input = not p.cross or p.d == p.d_kv
        alike = p.g == p.h and same_input
        inputs = {"Q": self.cast(p.X), "K": self.cast(p.X_kv if p.cross else p.X)}
        inputs["V"] = inputs["K"]
        parts = {name: self.parts(name) for name in "QKV"}
        if m == "cross_kv_from_x":
            need(p.cross and same_input and p.n == p.m)
            inputs["K"] = inputs["V"] = inputs["Q"]
        if m == "cross_swapped":
            need(p.cross and same_input and p.n == p.m)
            inputs = {"Q": inputs["K"], "K": inputs["Q"], "V": inputs["Q"]}
        self.other_weights(parts, alike)
        if m in ("packed_order", "packed_interleaved"):
            self.fused_read_otherwise(parts)
        if m in ("weights_transposed", "all weights transposed"):
            self.transpose(parts, "QKV")
        if m and m.startswith("weights_transposed_"):
            self.transpose(parts, m[-1].upper())
        if m and m.startswith("bias_forgotten"):
            names = "QKV" if m == "bias_forgotten" else m[-1].upper()
            need(any(b is not None for name in names for _, b in parts[name]))
            for name in names:
                parts[name] = [(W, None) for W, _ in parts[name]]
        if m in ("split_input", "split_input_shared"):
            need(p.g == p.h > 1 and p.d % p.h == 0 and p.d_kv == p.d and not p.packed)
            width = p.d // p.h
            if m == "split_input_shared":
                need(width == p.d_k == p.d_v)
        if m == "same_weights":
            need(p.h > 1)
            for name in "QKV":
                parts[name] = [(parts[name][0][0], b) for _, b in parts[name]]
        result = {}
        for name in "QKV":
            X = inputs[name]
            if m in ("no_projection", "no projection and no W_O") or (m == "v_not_projected" and name == "V"):
                count = p.h if name == "Q" else p.g
                need(X.shape[-1] == count * (p.d_v if name == "V" else p.d_k) and (m == "v_not_projected" or p.g == p.h))
                wide = X
            else:
                columns = []
                for i, (W, b) in enumerate(parts[name]):
                    if m in ("split_input", "split_input_shared"):
                        width, block = p.d // p.h, (0 if m == "split_input_shared" else i)
                        own = parts[name][block][0]
                        product = X[..., i * width:(i + 1) * width] @ own[block * width:(block + 1) * width]
                    else:
                        product = X @ W
                    columns.append(product if b is None else product + b)
                wide = np.concatenate(columns, axis=-1)
            if m == "relu_projection":
                wide = np.maximum(wide, 0)
            factor = self.extra.get("on_projections", {}).get(name)
            if factor is not None:
                wide = wide * self.dtype(factor)
            if p.packed:
                wide = self.store(f"packed.{name}", wide[:, None])[:, 0]
            heads = self.split(wide, p.h if name == "Q" else p.g)
            if name != "Q":
                heads = heads[:, self.groups()]
            result[name] = self.store(name, heads)
        return result["Q"], result["K"], result["V"]

    def groups(self):
        p, i = self.p, np.arange(self.p.h)
        if self.mistake and self.mistake.startswith("gqa_"):
            need(1 < p.g < p.h)
            return {"gqa_tiled": i % p.g, "gqa_wrong_divisor": i // p.g % p.g, "gqa_first_only": i * 0}[self.mistake]
        return i // (p.h // p.g)

    def split(self, wide, count):
        b, n, width = wide.shape
        size = width // count
        m = self.mistake
        if m in ("reshape_without_transpose", "strided_heads", "heads_reversed", "view in and view out",
                 "view and a wrong scale"):
            need(self.p.h == self.p.g > 1)
        if m in ("reshape_without_transpose", "view in and view out", "view and a wrong scale"):
            return wide.reshape(b, count, n, size)
        if m == "strided_heads":
            return np.stack([wide[..., i::count] for i in range(count)], axis=1)
        heads = wide.reshape(b, n, count, size).transpose(0, 2, 1, 3)
        return heads[:, ::-1] if m == "heads_reversed" else heads

    def other_weights(self, parts, alike):
        m = self.mistake
        sources = {"swap_qk": {"Q": "K", "K": "Q"}, "swap_qk own bias": {"Q": "K", "K": "Q"}, "v_from_wk": {"V": "K"},
                   "one_projection": {"K": "Q", "V": "Q"}, "q_from_wk": {"Q": "K"}, "q_from_wv": {"Q": "V"},
                   "k_from_wq": {"K": "Q"}, "k_from_wv": {"K": "V"}, "v_from_wq": {"V": "Q"},
                   "swap_kv": {"K": "V", "V": "K"}}.get(m)
        if sources is None:
            return
        need(alike or m in ("v_from_wk", "k_from_wv", "swap_kv"))
        old = {name: list(own) for name, own in parts.items()}
        for name, source in sources.items():
            need(old[name][0][0].shape == old[source][0][0].shape)
            biases = old[name] if m == "swap_qk own bias" else old[source]
            parts[name] = [(W, b) for (W, _), (_, b) in zip(old[source], biases)]
        if m == "swap_qk own bias":
            need(any(b is not None for name in "QK" for _, b in old[name]))

    def fused_read_otherwise(self, parts):
        p = self.p
        need(p.packed == "fused" and p.g == p.h)
        width = p.h * p.d_k
        wide = np.concatenate([W for name in "QKV" for W, _ in parts[name]], axis=1)
        bias = np.concatenate([b for name in "QKV" for _, b in parts[name]]) if parts["Q"][0][1] is not None else None
        if self.mistake == "packed_interleaved":
            need(p.h > 1)
            chosen = {name: [np.arange((3 * i + place) * p.d_k, (3 * i + place + 1) * p.d_k) for i in range(p.h)]
                      for place, name in enumerate("QKV")}
        else:
            order = [str(o) for o in self.rng.permutation(["QKV", "QVK", "KQV", "KVQ", "VQK", "VKQ"]) if o != "QKV"][0]
            chosen = {name: [np.arange(order.index(name) * width + i * p.d_k, order.index(name) * width + (i + 1) * p.d_k)
                             for i in range(p.h)] for name in "QKV"}
        for name in "QKV":
            parts[name] = [(wide[:, c], None if bias is None else bias[c]) for c in chosen[name]]

    def transpose(self, parts, names):
        p = self.p
        for name in names:
            if p.packed:
                wide = np.concatenate([W for W, _ in parts[name]], axis=1)
                need(wide.shape[0] == wide.shape[1] and p.packed == "packed")
                parts[name] = [(W, b) for W, (_, b) in zip(np.split(wide.T, len(parts[name]), axis=1), parts[name])]
            else:
                need(parts[name][0][0].shape[0] == parts[name][0][0].shape[1])
                parts[name] = [(W.T, b) for W, b in parts[name]]

    # Rotary positions

    def rotated(self, heads, positions, **other):
        rule = {**self.p.rope, **other}
        dims, base = rule["dims"], float(rule["base"])
        pairs = dims // 2
        angle = np.asarray(positions, float)[..., None] * base ** (-2 * np.arange(pairs) / dims)
        cos, sin = self.cast(np.cos(angle)), self.cast(np.sin(angle))
        first, second = (slice(0, pairs), slice(pairs, dims)) if rule["pairing"] == "half" else (slice(0, dims, 2),
                                                                                               slice(1, dims, 2))
        result = heads.copy()
        a, b = heads[..., first], heads[..., second]
        result[..., first] = a * cos - b * sin
        result[..., second] = a * sin + b * cos
        return result

    def rotations(self, Q, K, V):
        p, m = self.p, self.mistake
        rope_mistake = bool(m) and m.startswith("rope")
        if p.rope is None:
            need(not rope_mistake)
            return Q, K, V
        if m == "rope_missing":
            return Q, K, V
        start = p.rope["start"]
        at = np.arange(start, start + max(p.n, p.m))
        other = {}
        if m == "rope_pairing":
            need(p.rope["dims"] > 2)
            other["pairing"] = "half" if p.rope["pairing"] == "interleaved" else "interleaved"
        if m == "rope_direction":
            at = -at
        if m == "rope_from_one":
            at = at + 1
        if m == "rope_base":
            need(p.rope["dims"] > 2)
            bases = [10000, 500000, 1000000, 100, 10 * p.rope["base"], p.rope["base"] / 10]
            other["base"] = float(self.rng.choice([base for base in bases if base != p.rope["base"]]))
        q_at, k_at = at[:p.n], at[:p.m]
        if m == "rope_along_heads":
            need(p.h > 1 and p.g == p.h and start == 0)
            q_at = np.arange(p.h)[:, None] + 0 * q_at
            k_at = np.arange(p.h)[:, None] + 0 * k_at
        if m == "rope_on_values":
            need(p.d_v >= p.rope["dims"] and p.d_v == p.d_k)
            V = self.rotated(V, k_at)
        Q = self.store("Q_rot", Q if m == "rope_restarted" else self.rotated(Q, q_at, **other))
        K = self.store("K_rot", K if m == "rope_on_q_only" else self.rotated(K, k_at, **other))
        return Q, K, V

    # Scores

    def scores(self, Q, K, V):
        p, m = self.p, self.mistake
        S = Q @ turned(K)
        if m == "reshape_for_transpose":
            S = Q @ K.reshape(*K.shape[:2], K.shape[3], K.shape[2])
        if m == "scores_transposed":
            need(p.n == p.m)
            S = turned(S)
        if m == "k_not_transposed":
            need(p.m == p.d_k)
            S = Q @ K
        if m == "v_for_k":
            need(p.d_v == p.d_k)
            S = Q @ turned(V)
        if m == "elementwise_product":
            need(p.n == p.m == p.d_k)
            S = Q * K
        if m == "cache_reversed":
            need(not p.cross and p.n > 1 and p.hides and not p.keep[..., distances(p.n, p.m) > 0].any())
            self.reversed = str(self.rng.choice(["K", "V", "KV"]))
            S = newest_first(S) if "K" in self.reversed else S
        if "on_scores" in self.extra:
            S = S * self.dtype(self.extra["on_scores"])
        return self.store("scores", S)

    def scaled(self, S):
        p, m = self.p, self.mistake
        factors = {"no_scale": 1, "scale_sqrt_dmodel": p.d ** -0.5, "scale_sqrt_all_heads": (p.h * p.d_k) ** -0.5,
                   "scale_dk": 1 / p.d_k, "scale_multiplied": p.d_k ** 0.5, "scale_fourth_root": p.d_k ** -0.25,
                   "scale_sqrt_heads": p.h ** -0.5, "scale_sqrt_n": p.n ** -0.5, "scale_after_softmax": 1,
                   "view and a wrong scale": p.d ** -0.5}
        if p.scale == "none":
            need(m not in factors)
            return S
        factor = p.d_k ** -0.5 if p.scale is None else p.scale
        if "factor" in self.extra:
            factor = self.extra["factor"]
        if "divisor" in self.extra:
            return self.store("scaled", S / self.dtype(self.extra["divisor"]))
        if m in factors:
            need(p.scale is None or m in ("no_scale", "scale_after_softmax"))
            need(m != "scale_sqrt_all_heads" or p.h * p.d_k != p.d)
            factor = factors[m]
        if self.extra.get("leave_out_scale"):
            factor = 1
        return self.store("scaled", S * self.dtype(factor))

    def capped(self, Z):
        p, m = self.p, self.mistake
        if p.softcap is None:
            need(m not in ("softcap_missing", "softcap_after_mask"))
            return Z
        if m in ("softcap_missing", "softcap_after_mask"):
            return Z
        c = self.dtype(p.softcap)
        return self.store("capped", c * np.tanh(Z / c))

    # Masks

    def masked(self, Z):
        p, m = self.p, self.mistake
        mask_mistakes = ("mask_", "padding_", "causal_", "window_", "alibi_")
        if not p.masks:
            need(not (m and m.startswith(mask_mistakes)) and m != "softcap_after_mask" and "fill" not in self.extra)
            return Z
        mask = self.cast(p.mask)
        keep = p.keep
        soft = self.cast(sum(np.where(np.isneginf(one), 0, one) for _, one in p.masks))  # what hides nothing
        if m == "softcap_after_mask":
            need(p.hides)
            c = self.dtype(p.softcap)
            return self.store("capped", c * np.tanh(self.store("masked", Z + mask) / c))
        M = Z + mask
        if m in ("mask_after_softmax", "mask_multiplied", "mask_fill_weak", "mask_inverted", "mask_added",
                 "mask_added_inverted", "mask_plus_inf", "mask_nan"):
            need(p.hides)
            Z = Z + soft
            if m == "mask_after_softmax":
                M = Z
            elif m == "mask_multiplied":
                M = Z * keep
            elif m == "mask_fill_weak":
                M = np.where(keep, Z, self.dtype(self.rng.choice([-10, -1e-9])))
            elif m == "mask_inverted":
                M = np.where(keep, -INF, Z)
            elif m == "mask_added":
                M = Z + keep
            elif m == "mask_added_inverted":
                M = Z + ~keep
            elif m == "mask_plus_inf":
                M = np.where(keep, Z, INF)
            else:
                M = np.where(keep, np.nan, -INF)
            return self.store("masked", M)
        if m == "mask_ignored":
            M = Z
        other = self.other_mask()
        if other is not None:
            M = Z + self.cast(other)
        if "fill" in self.extra:
            fill, how = self.extra["fill"]
            need(p.hides)
            hidden = self.dtype(fill) if how == "put" else Z + soft + self.dtype(fill)
            M = np.where(keep, Z + soft, hidden)
        if self.extra.get("unmasked_shown"):
            need(p.hides)
            self.store("masked", Z + soft)
            return M
        if self.extra.get("row_maximum"):
            largest = M.max(axis=-1, keepdims=True)
            need(np.isfinite(largest).all())
            M = M - largest
        if "shift" in self.extra:
            M = M + self.cast(self.extra["shift"])
        return self.store("masked", M)

    def other_mask(self):
        """All masks together, one of them mistaken; None where the mistake is not one of a mask."""
        p, m = self.p, self.mistake
        apart = distances(p.n, p.m)
        kinds = {"padding_on_queries": ["padding"], "padding_other_item": ["padding"], "causal_strict": ["causal"],
                 "causal_one_ahead": ["causal"], "causal_corner": ["causal"], "window_off_by_one": ["window"],
                 "alibi_slopes": ["alibi"], "mask_transposed": ["causal", "allow", "block"],
                 "mask_part_ignored": ["padding", "causal", "alibi", "window"]}.get(m)
        if kinds is None:
            return None
        at = [i for i, (kind, _) in enumerate(p.masks) if kind in kinds]
        need(at)
        place = at[0]
        kind, old = p.masks[place]
        if m == "mask_part_ignored":
            need(len(p.masks) > 1)
            new = 0 * p.X[0, 0, 0]
        elif m == "padding_on_queries":
            need(p.n == p.m)
            new = turned(old)
        elif m == "padding_other_item":
            need(p.batch)
            new = np.roll(old, 1, axis=0)
        elif m == "mask_transposed":
            need(p.n == p.m)
            new = turned(old)
        elif m in ("causal_strict", "causal_one_ahead"):
            need(p.n == p.m)
            new = np.where(apart > (-1 if m == "causal_strict" else 1), -INF, 0)
        elif m == "causal_corner":
            need(p.n != p.m)
            new = np.where(apart > (p.m - p.n if p.mask_json[place] == "causal-top-left" else 0), -INF, 0)
        elif m == "window_off_by_one":
            left, right = p.window
            left, right = [(left + 1, right), (left - 1, right), (left, right + 1), (left, right - 1)][self.rng.integers(4)]
            need(left >= 0 and right >= 0)
            new = np.where((apart < -left) | (apart > right), -INF, 0)
        else:
            way = int(self.rng.integers(3))
            exponents = np.arange(1, p.h + 1) * 8 / 2 ** np.ceil(np.log2(p.h))
            wrong = [2.0 ** -exponents, 2.0 ** -(np.arange(p.h) * 8 / p.h), np.full(p.h, 0.5)][way]
            if way == 1:  # exponents that begin at 0 where they should begin at 1
                need(p.h & (p.h - 1) == 0)
            new = np.broadcast_to(-wrong[:, None, None] * abs(apart), old.shape)
        return sum(new if i == place else mask for i, (_, mask) in enumerate(p.masks))

    # Weights

    def weights(self, M):
        p, m = self.p, self.mistake
        A = softmax(M)
        if m in ("softmax_columns", "softmax_heads", "softmax_all", "batch_softmax"):
            need(not p.keyless.any())
            if m == "softmax_heads":
                need(p.h > 1)
            if m == "batch_softmax":
                need(p.batch)
            axis = {"softmax_columns": 2, "softmax_heads": 1, "batch_softmax": 0}.get(m)
            if axis is None:
                flat = M.reshape(*M.shape[:2], 1, -1)
                A = softmax(flat).reshape(M.shape)
            else:
                need(not np.isneginf(M).all(axis=axis).any())
                A = softmax(M, axis=axis)
        if m == "softmax_overflow":
            need(M.max() > (90 if self.dtype == np.float32 else 720) and not p.keyless.any())
            A = softmax(M, maximum=False)
        if m == "softmax_plus_one":
            need(not p.keyless.any())
            A = softmax(M, one_more=True, maximum=bool(self.rng.integers(2)))
        if m == "softmax_twice":
            need(not p.keyless.any())
            A = softmax(A)
        if m == "softmax_base2":
            A = softmax(M, base=2.0)
        if m in ("no_softmax", "sum_normalised"):
            need(not p.hides)  # a person then writes other masked scores as well
            A = M if m == "no_softmax" else M / M.sum(axis=-1, keepdims=True)
        if m == "scale_after_softmax":
            A = A * self.dtype(p.d_k ** -0.5 if p.scale is None else p.scale)
        if m == "mask_after_softmax":
            A = A * p.keep
        if m == "weights_averaged":
            need(p.h > 1)
            A = np.broadcast_to(A.mean(axis=1, keepdims=True), A.shape)
        if m == "dropout":
            share = float(self.rng.choice([0.1, 0.2, 0.5]))
            A = A * (self.rng.random(A.shape) >= 0.4) / self.dtype(1 - share)
        fill = self.extra.get("keyless")
        if fill is not None:
            A = np.where(p.keyless[..., None], self.dtype(1 / p.m if fill == "equal" else fill), A)
        return self.store("weights", A)

    def head_output(self, A, Q, K, V):
        p, m = self.p, self.mistake
        if m == "attention_transposed":
            need(p.n == p.m)
            return self.store("head_output", turned(A) @ V)
        if m == "k_for_v":
            need(p.d_k == p.d_v and p.rope is None)
            V = K
        if m == "q_for_v":
            need(p.d_k == p.d_v and p.n == p.m and p.rope is None)
            V = Q
        if m == "cache_reversed" and "V" in self.reversed:
            A = newest_first(np.tril(A))
        return self.store("head_output", A @ V)

    def concat(self, heads):
        p, m = self.p, self.mistake
        b, h, n, d_v = heads.shape
        if m in ("merge_without_transpose", "view in and view out"):
            need(h > 1)
            C = heads.reshape(b, n, h * d_v)
        elif m == "heads folded into the batch":
            need(h > 1 and p.batch)
            C = heads.transpose(1, 0, 2, 3).reshape(b, n, h * d_v)
        elif m == "concat_reversed":
            need(h > 1)
            C = heads[:, ::-1].transpose(0, 2, 1, 3).reshape(b, n, -1)
        elif m == "concat_interleaved":
            need(h > 1 and d_v > 1)
            C = heads.transpose(0, 2, 3, 1).reshape(b, n, -1)
        elif m in ("heads_averaged", "heads_summed", "heads_max"):
            need(h > 1)
            C = {"heads_averaged": np.mean, "heads_summed": np.sum, "heads_max": np.max}[m](heads, axis=1)
        elif m == "concat_rows":
            need(h > 1)
            C = heads.reshape(b, h * n, d_v)
        else:
            C = heads.transpose(0, 2, 1, 3).reshape(b, n, -1)
        return self.store("concat", C[:, None])

    def output(self, C):
        p, m = self.p, self.mistake
        W, b = self.cast(p.W_O), self.cast(p.b_O)
        if m in ("heads_averaged", "heads_summed", "heads_max", "concat_rows", "wo_missing", "no projection and no W_O"):
            need(not p.identity)
            return self.store("output", C)
        if m in ("wo_transposed", "all weights transposed"):
            need(W is not None and W.shape[0] == W.shape[1] and (W != W.T).any())
            W = W.T
        if m == "bo_forgotten":
            need(b is not None)
            b = None
        Y = C if W is None else C @ W
        if b is not None:
            Y = Y + b
        if m == "residual_added":
            need(p.d == Y.shape[-1])
            Y = Y + self.cast(p.X)[:, None]
        if m == "relu_output":
            Y = np.maximum(Y, 0)
        return self.store("output", Y)


def not_split(problem):
    """One head over all columns, scaled by the root of its width."""
    need(problem.h == problem.g > 1 and problem.rope is None and problem.scale is None)
    if problem.masks:
        need((problem.mask == problem.mask[:, :1]).all())
    right = Attention(problem).compute()
    wide = {name: right[name].transpose(0, 2, 1, 3).reshape(problem.batch or 1, 1, right[name].shape[2], -1)
            for name in "QKV"}
    S = wide["Q"] @ turned(wide["K"])
    Z = S * (problem.h * problem.d_k) ** -0.5
    steps = {**wide, "scores": S, "scaled": Z}
    if problem.softcap:
        Z = steps["capped"] = problem.softcap * np.tanh(Z / problem.softcap)
    if problem.masks:
        Z = steps["masked"] = Z + problem.mask[:, :1]
    A = steps["weights"] = softmax(Z)
    head = steps["head_output"] = steps["concat"] = A @ wide["V"]
    steps["output"] = head if problem.identity else head @ problem.W_O + (0 if problem.b_O is None else problem.b_O)
    return steps
