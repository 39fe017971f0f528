"""Blocks and stacks in NumPy, step by step, right or with one of the known mistakes; it shares no code with mha."""

import math

import numpy as np

MISTAKES = ["residual_forgotten", "residual_before_projection", "residual_of_other", "norm_missing", "norm_place_exchanged",
            "norm_mean_kept", "norm_variance_of_sample", "norm_eps_outside", "norm_over_tokens", "norm_gamma_forgotten",
            "norm_beta_forgotten", "mlp_bias_forgotten", "activation_missing", "gate_not_activated", "gate_exchanged",
            "gelu_form", "relu_for_other",
            "norm_mean_taken", "gate_exchanged, W_gate and W_1", "residual_of_other, post", "residual_of_other, of layer 1"]


class CannotBeMade(Exception):
    """This layer has nothing with which the mistake could be made."""


def need(condition):
    if not condition:
        raise CannotBeMade


ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "none": lambda x: x,
}


def normalised(x, norm, mistake=None):
    kind, eps = norm["kind"], norm.get("eps", 1e-5)
    axis = 0 if mistake == "norm_over_tokens" else 1
    if mistake == "norm_mean_kept":
        need(kind == "layer")
        kind = "rms"
    elif mistake == "norm_mean_taken":
        need(kind == "rms")
        kind = "layer"
    if kind == "layer":
        x = x - x.mean(axis=axis, keepdims=True)
    size = x.shape[axis]
    square = (x ** 2).sum(axis=axis, keepdims=True) / (size - 1 if mistake == "norm_variance_of_sample" else size)
    need(mistake != "norm_variance_of_sample" or kind == "layer")
    x = x / (np.sqrt(square) + eps if mistake == "norm_eps_outside" else np.sqrt(square + eps))
    need(mistake != "norm_gamma_forgotten" or "gamma" in norm)
    need(mistake != "norm_beta_forgotten" or "beta" in norm)
    if "gamma" in norm and mistake != "norm_gamma_forgotten":
        x = x * np.array(norm["gamma"])
    return x + np.array(norm["beta"]) if "beta" in norm and mistake != "norm_beta_forgotten" else x


def attention(x, layer, steps, keep, mistake, added):
    heads = []
    for number, head in enumerate(layer["heads"], 1):
        def store(step, value, number=number):
            steps[f"{step}{number}"] = keep(value)
            return steps[f"{step}{number}"]

        Q, K, V = (store(name, x @ np.array(head["W_" + name]) + np.array(head.get("b_" + name, 0))) for name in "QKV")
        S = store("S", Q @ K.T)
        Z = store("Z", S / math.sqrt(Q.shape[1]) if mistake != "no_scale" else S)
        if layer.get("mask") == "causal":
            Z = store("M", np.where(np.tril(np.ones(Z.shape)) > 0, Z, -np.inf))
        power = np.exp(Z - Z.max(axis=1, keepdims=True))
        heads.append(store("head", store("A", power / power.sum(axis=1, keepdims=True)) @ V))
    steps["concat"] = keep(np.hstack(heads))
    steps["Y"] = keep((steps["concat"] + (0 if added is None else added)) @ np.array(layer["W_O"])
                      + np.array(layer.get("b_O", 0)))
    return steps["Y"]


def mlp(x, layer, steps, keep, mistake):
    own, bias = layer["mlp"], lambda name: np.array(own[name]) if name in own and mistake != "mlp_bias_forgotten" else 0
    need(mistake != "mlp_bias_forgotten" or any(name in own for name in ("b_1", "b_2", "b_gate")))
    activation = own["activation"]
    if mistake == "gelu_form":
        need(activation in ("gelu", "gelu_tanh"))
        activation = {"gelu": "gelu_tanh", "gelu_tanh": "gelu"}[activation]
    if mistake == "relu_for_other":
        need(activation != "relu")
        activation = "relu"
    gated = "W_gate" in own
    if mistake in ("activation_missing", "gate_not_activated"):
        need(gated == (mistake == "gate_not_activated"))
        activation = "none"
    need(gated or not (mistake or "").startswith("gate_exchanged"))
    if mistake == "gate_exchanged, W_gate and W_1":
        own = own | {"W_1": own["W_gate"], "W_gate": own["W_1"]} | {
            new: own[old] for new, old in (("b_1", "b_gate"), ("b_gate", "b_1")) if old in own}
        own = {name: value for name, value in own.items() if not (name == "b_1" and "b_gate" not in layer["mlp"])}
    act = ACTIVATIONS[activation]
    if gated:
        G = steps["G"] = keep(x @ np.array(own["W_gate"]) + bias("b_gate"))
        H = steps["H"] = keep(x @ np.array(own["W_1"]) + bias("b_1"))
        U = act(H) * G if mistake == "gate_exchanged" else act(G) * H
    else:
        H = steps["H"] = keep(x @ np.array(own["W_1"]) + bias("b_1"))
        U = act(H)
    steps["U"] = keep(U)
    steps["F"] = keep(steps["U"] @ np.array(own["W_2"]) + bias("b_2"))
    return steps["F"]


def block(x, layer, mistake=None, keep=lambda numbers: numbers, first=None):
    """All steps of a layer with residual sums, both norms and an MLP, under the names of a flat answer; `first`: what an
    earlier layer read."""
    steps = {}
    pre = layer.get("norm_place", "pre") == "pre"
    if mistake == "norm_place_exchanged":
        pre = not pre

    def norm(name, key, value):
        if mistake == "norm_missing":  # and so not written down
            return value
        steps[name] = keep(normalised(value, layer[key], mistake))
        return steps[name]

    def sublayer(names, key, value, inner, other=None):
        sum_name, norm_name = names
        read = norm(norm_name, key, value) if pre else value
        result = inner(read)
        if mistake != "residual_forgotten" and not (mistake == "residual_before_projection" and sum_name == "R"):
            result = result + (value if other is None else other(read))
        result = steps[sum_name] = keep(result)
        return result if pre else norm(norm_name, key, result)

    added = None
    if mistake == "residual_before_projection":
        need(len(layer["W_O"]) == x.shape[1])
        added = x
    need(mistake != "residual_of_other" or pre)
    need(mistake != "residual_of_other, post" or not pre)
    wrong = (lambda read: read) if mistake == "residual_of_other" else None
    start = x
    if mistake == "residual_of_other, of layer 1":
        need(first is not None)
        wrong = lambda read: first
    x = sublayer(("R", "N"), "norm", x, lambda read: attention(read, layer, steps, keep, mistake, added), wrong)
    x = sublayer(("R'", "N'"), "mlp_norm", x, lambda read: mlp(read, layer, steps, keep, mistake),
                 (lambda read: start) if mistake == "residual_of_input" else
                 (lambda read: steps["R"]) if mistake == "residual_of_other, post" else None)
    return x, steps


def stack(problem, mistakes=None, keep=lambda numbers: numbers):
    """The steps of each layer; `mistakes` has the layer's, from 0. Then the final norm."""
    x, layers = np.array(problem["X"], dtype=float), []
    for place, layer in enumerate(problem["layers"]):
        x, steps = block(x, layer, (mistakes or {}).get(place), keep, np.array(problem["X"], dtype=float) if place else None)
        layers.append(steps)
    final = keep(normalised(x, problem["final_norm"])) if "final_norm" in problem else None
    return layers, final


def flat_answer(layers, final=None, decimals=None):
    """As a person writes it: {"layer2.A1": …}."""
    def written(matrix):
        return [["-inf" if x == -np.inf else float(x) if decimals is None else round(float(x), decimals) for x in row]
                for row in matrix]

    answer = {f"layer{number}.{name}": written(matrix) for number, steps in enumerate(layers, 1)
              for name, matrix in steps.items()}
    return answer if final is None else answer | {"final_norm": written(final)}


def random_layer(rng, d, kind):
    def matrix(rows, columns):
        return rng.normal(0, 1 / math.sqrt(rows), (rows, columns)).round(2).tolist()

    def vector(size, around=0):
        return (around + rng.normal(0, 0.4, size)).round(2).tolist()

    gated, rms, f = kind == "gated", kind == "gated", d + 1
    norm = (lambda: {"kind": "rms", "gamma": vector(d, 1), "eps": 0.1}) if rms else (
        lambda: {"kind": "layer", "gamma": vector(d, 1), "beta": vector(d), "eps": 0.1})
    layer = {"heads": [{name: matrix(d, d // 2) for name in ("W_Q", "W_K", "W_V")} for _ in range(2)],
             "W_O": matrix(d, d), "residual": True, "norm": norm(), "mlp_norm": norm(),
             "mlp": {"W_1": matrix(d, f), "b_1": vector(f), "W_2": matrix(f, d), "b_2": vector(d),
                     "activation": {"pre": "gelu", "post": "gelu_tanh", "gated": "silu"}[kind]}}
    if kind == "post":
        layer["norm_place"] = "post"
    if kind == "gated":
        layer["mlp"] |= {"W_gate": matrix(d, f)}
        layer["mask"] = "causal"
    return layer


def random_stack(seed, kinds, d=6, tokens=4, final=True):
    rng = np.random.default_rng(seed)
    problem = {"X": rng.normal(0, 1, (tokens, d)).round(2).tolist(),
               "layers": [random_layer(rng, d, kind) for kind in kinds]}
    return problem | ({"final_norm": {"kind": "layer"}} if final else {})
