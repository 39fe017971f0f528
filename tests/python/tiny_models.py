"""Tiny models of every family as their libraries save them, and their attention and blocks computed with NumPy."""

import json
import math
import struct
from pathlib import Path

import numpy

D_MODEL, TOKENS = 8, 5


def write_safetensors(path, tensors):
    """A .safetensors file: length, JSON header, data one behind the other."""
    kinds = {"float32": "F32", "float64": "F64", "float16": "F16", "bool": "BOOL", "uint8": "U8"}
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, array in tensors.items():
        raw = numpy.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": kinds[str(array.dtype)], "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def random(seed, *shape):
    return (numpy.random.RandomState(seed).standard_normal(shape) * 0.5).astype(numpy.float32)


def projections(prefix, heads=4, kv_heads=2, d_k=2, d_model=D_MODEL, biases="", seed=1):
    """q_proj … o_proj, stored out×in; `biases` names those that have one: "qkv", "qkvo"."""
    sizes = {"q": (heads * d_k, d_model), "k": (kv_heads * d_k, d_model), "v": (kv_heads * d_k, d_model),
             "o": (d_model, heads * d_k)}
    tensors = {}
    for i, (name, shape) in enumerate(sizes.items()):
        tensors[f"{prefix}{name}_proj.weight"] = random(seed + i, *shape)
        if name in biases:
            tensors[f"{prefix}{name}_proj.bias"] = random(seed + 10 + i, shape[0])
    return tensors


def bert(prefix, seed=1, d_model=D_MODEL):
    tensors = {}
    for i, name in enumerate(("self.query", "self.key", "self.value", "output.dense")):
        tensors[f"{prefix}attention.{name}.weight"] = random(seed + i, d_model, d_model)
        tensors[f"{prefix}attention.{name}.bias"] = random(seed + 10 + i, d_model)
    for i, name in enumerate(("attention.output.LayerNorm", "output.LayerNorm")):
        tensors |= {f"{prefix}{name}.weight": random(seed + 20 + i, d_model), f"{prefix}{name}.bias": random(seed + 22 + i, d_model)}
    return tensors | {f"{prefix}intermediate.dense.weight": random(seed + 24, 3 * d_model, d_model),
                      f"{prefix}intermediate.dense.bias": random(seed + 25, 3 * d_model),
                      f"{prefix}output.dense.weight": random(seed + 26, d_model, 3 * d_model),
                      f"{prefix}output.dense.bias": random(seed + 27, d_model)}


def gpt2(prefix, seed=1, d_model=D_MODEL):
    """Weights in×out; the buffers that GPT-2 saves beside them; the MLP has a c_proj too."""
    return {
        f"{prefix}attn.bias": numpy.tril(numpy.ones((1, 1, 16, 16), dtype=bool)),
        f"{prefix}attn.masked_bias": numpy.array(-1e4, dtype=numpy.float32),
        f"{prefix}attn.c_attn.weight": random(seed, d_model, 3 * d_model),
        f"{prefix}attn.c_attn.bias": random(seed + 1, 3 * d_model),
        f"{prefix}attn.c_proj.weight": random(seed + 2, d_model, d_model),
        f"{prefix}attn.c_proj.bias": random(seed + 3, d_model),
        f"{prefix}mlp.c_fc.weight": random(seed + 4, d_model, 4 * d_model),
        f"{prefix}mlp.c_fc.bias": random(seed + 5, 4 * d_model),
        f"{prefix}mlp.c_proj.weight": random(seed + 6, 4 * d_model, d_model),
        f"{prefix}mlp.c_proj.bias": random(seed + 7, d_model),
        f"{prefix}ln_1.weight": random(seed + 8, d_model),
        f"{prefix}ln_1.bias": random(seed + 9, d_model),
        f"{prefix}ln_2.weight": random(seed + 10, d_model),
        f"{prefix}ln_2.bias": random(seed + 11, d_model),
    }


def llama(prefix, heads=4, kv_heads=2, d_k=2, biases="", mlp_biases=False, seed=1):
    """A whole layer; Mistral, Qwen 2 and Gemma 1 name theirs so too."""
    tensors = projections(f"{prefix}self_attn.", heads, kv_heads, d_k, biases=biases, seed=seed)
    for i, name in enumerate(("input_layernorm", "post_attention_layernorm")):
        tensors[f"{prefix}{name}.weight"] = random(seed + 20 + i, D_MODEL)
    for i, (name, out, width) in enumerate((("gate", 6, D_MODEL), ("up", 6, D_MODEL), ("down", D_MODEL, 6))):
        tensors[f"{prefix}mlp.{name}_proj.weight"] = random(seed + 22 + i, out, width)
        if mlp_biases:
            tensors[f"{prefix}mlp.{name}_proj.bias"] = random(seed + 25 + i, out)
    return tensors


def torch_mha(prefix="", seed=1, d_model=D_MODEL, d_kv=None):
    """With an input of its own for keys and values PyTorch keeps the three weights apart, but not their bias."""
    tensors = {f"{prefix}in_proj_bias": random(seed, 3 * d_model),
               f"{prefix}out_proj.weight": random(seed + 1, d_model, d_model),
               f"{prefix}out_proj.bias": random(seed + 2, d_model)}
    if d_kv is None:
        return tensors | {f"{prefix}in_proj_weight": random(seed + 3, 3 * d_model, d_model)}
    return tensors | {f"{prefix}q_proj_weight": random(seed + 3, d_model, d_model),
                      f"{prefix}k_proj_weight": random(seed + 4, d_model, d_kv),
                      f"{prefix}v_proj_weight": random(seed + 5, d_model, d_kv)}


def linears(tensors, kind, prefix):
    """(W in×out, b) of queries, keys, values and output, in double, whatever the family calls and stores them."""
    found = {name: tensor.astype(float) for name, tensor in tensors.items()}
    get = found.get
    if kind == "projections":
        return [(get(f"{prefix}{x}_proj.weight").T, get(f"{prefix}{x}_proj.bias", 0)) for x in "qkvo"]
    if kind == "bert":
        return [(get(f"{prefix}attention.{x}.weight").T, get(f"{prefix}attention.{x}.bias", 0))
                for x in ("self.query", "self.key", "self.value", "output.dense")]
    if kind == "gpt2":
        weights = numpy.split(get(f"{prefix}attn.c_attn.weight"), 3, axis=1)
        biases = numpy.split(get(f"{prefix}attn.c_attn.bias"), 3)
        return [*zip(weights, biases), (get(f"{prefix}attn.c_proj.weight"), get(f"{prefix}attn.c_proj.bias"))]
    biases = numpy.split(get(f"{prefix}in_proj_bias"), 3)
    if f"{prefix}in_proj_weight" in found:
        weights = numpy.split(get(f"{prefix}in_proj_weight"), 3)
    else:
        weights = [get(f"{prefix}{x}_proj_weight") for x in "qkv"]
    return [*zip((w.T for w in weights), biases), (get(f"{prefix}out_proj.weight").T, get(f"{prefix}out_proj.bias"))]


def rotate(x, base, dims=None):
    """Rows of n×d turned by their position, columns t and t + dims/2 as a pair: x·cos + rotate_half(x)·sin."""
    dims = dims or x.shape[-1]
    turning, rest = x[..., :dims], x[..., dims:]
    angles = numpy.arange(len(x))[:, None] / base ** (numpy.arange(0, dims, 2) / dims)
    angles = numpy.concatenate([angles, angles], axis=-1)
    half = numpy.concatenate([-turning[..., dims // 2:], turning[..., :dims // 2]], axis=-1)
    return numpy.concatenate([turning * numpy.cos(angles) + half * numpy.sin(angles), rest], axis=-1)


def attention(x, weights, heads, kv_heads, scale=None, base=None, dims=None, softcap=None, causal=False, window=None,
              x_kv=None):
    """Weights of each head and the output; `window` counts the keys that a query sees, itself among them."""
    (wq, bq), (wk, bk), (wv, bv), (wo, bo) = weights
    source = x if x_kv is None else x_kv
    q, k, v = x @ wq + bq, source @ wk + bk, source @ wv + bv
    d_k, d_v = q.shape[1] // heads, v.shape[1] // kv_heads
    all_weights, outputs = [], []
    for head in range(heads):
        group = head // (heads // kv_heads)
        q_i, k_i = q[:, head * d_k:][:, :d_k], k[:, group * d_k:][:, :d_k]
        if base:
            q_i, k_i = rotate(q_i, base, dims), rotate(k_i, base, dims)
        scores = q_i @ k_i.T * (d_k ** -0.5 if scale is None else scale)
        if softcap:
            scores = softcap * numpy.tanh(scores / softcap)
        distance = numpy.arange(len(x))[:, None] - numpy.arange(len(source))[None]
        if causal:
            scores = numpy.where(distance >= 0, scores, -numpy.inf)
        if window:
            scores = numpy.where(distance < window, scores, -numpy.inf)
        powers = numpy.exp(scores - scores.max(axis=1, keepdims=True))
        all_weights.append(powers / powers.sum(axis=1, keepdims=True))
        outputs.append(all_weights[-1] @ v[:, group * d_v:][:, :d_v])
    return numpy.array(all_weights), numpy.concatenate(outputs, axis=1) @ wo + bo


ACTIVATIONS = {
    "none": lambda x: x,
    "relu": lambda x: numpy.maximum(x, 0),
    "gelu": lambda x: x * (1 + numpy.vectorize(math.erf)(x / 2 ** 0.5)) / 2,
    "gelu_tanh": lambda x: x * (1 + numpy.tanh((2 / numpy.pi) ** 0.5 * (x + 0.044715 * x ** 3))) / 2,
    "silu": lambda x: x / (1 + numpy.exp(-x)),
}


def layer_norm(x, gamma, beta, eps):
    x = x - x.mean(axis=1, keepdims=True)
    return x / numpy.sqrt((x ** 2).mean(axis=1, keepdims=True) + eps) * gamma + beta


def rms_norm(x, gamma, eps):
    return x / numpy.sqrt((x ** 2).mean(axis=1, keepdims=True) + eps) * gamma


def layer(x, tensors, kind, prefix, heads, kv_heads, activation, eps, gemma=False, **rules):
    """A whole layer: "bert", "gpt2" or "llama"."""
    found = {name[len(prefix):]: tensor.astype(float) for name, tensor in tensors.items() if name.startswith(prefix)}
    act = ACTIVATIONS[activation]
    get = found.get
    module = {"bert": "", "gpt2": "", "llama": "self_attn."}[kind]
    weights = linears(found, {"llama": "projections"}.get(kind, kind), module)

    def attend(rows):
        return attention(rows, weights, heads, kv_heads, **rules)[1]

    if kind == "bert":
        x = layer_norm(x + attend(x), get("attention.output.LayerNorm.weight"), get("attention.output.LayerNorm.bias"), eps)
        hidden = act(x @ get("intermediate.dense.weight").T + get("intermediate.dense.bias"))
        x = x + hidden @ get("output.dense.weight").T + get("output.dense.bias")
        return layer_norm(x, get("output.LayerNorm.weight"), get("output.LayerNorm.bias"), eps)
    if kind == "gpt2":
        x = x + attend(layer_norm(x, get("ln_1.weight"), get("ln_1.bias"), eps))
        hidden = layer_norm(x, get("ln_2.weight"), get("ln_2.bias"), eps) @ get("mlp.c_fc.weight") + get("mlp.c_fc.bias")
        return x + act(hidden) @ get("mlp.c_proj.weight") + get("mlp.c_proj.bias")
    one = 1 if gemma else 0
    x = x + attend(rms_norm(x, get("input_layernorm.weight") + one, eps))
    rows = rms_norm(x, get("post_attention_layernorm.weight") + one, eps)
    gate, up = (rows @ get(f"mlp.{name}_proj.weight").T + get(f"mlp.{name}_proj.bias", 0) for name in ("gate", "up"))
    return x + (act(gate) * up) @ get("mlp.down_proj.weight").T + get("mlp.down_proj.bias", 0)
