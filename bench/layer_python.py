"""The steps of a BERT-base layer, all kept, in PyTorch where it can be imported, else NumPy: layer_python.py N [THREADS].

With `gradient` behind them PyTorch also computes and keeps every gradient.

One line of JSON: with what, and the median and least milliseconds of 15 rounds after two to warm up.
"""

import json
import statistics
import sys
import time

N, D_MODEL, HEADS = int(sys.argv[1]), 768, 12
D_K = D_MODEL // HEADS
SCALE = D_K ** -0.5
GRADIENT = sys.argv[3:] == ["gradient"]


def in_torch():
    import torch
    if len(sys.argv) > 2:
        torch.set_num_threads(int(sys.argv[2]))
    torch.manual_seed(0)
    X, W_QKV, W_O = torch.randn(N, D_MODEL), torch.randn(3 * D_MODEL, D_MODEL) * 0.03, torch.randn(D_MODEL, D_MODEL) * 0.03
    b_QKV, b_O = torch.randn(3 * D_MODEL), torch.randn(D_MODEL)

    def forward():
        QKV = torch.nn.functional.linear(X, W_QKV, b_QKV)
        Q, K, V = QKV.view(N, 3, HEADS, D_K).permute(1, 2, 0, 3)
        S = Q @ K.transpose(1, 2)
        Z = S * SCALE
        A = torch.softmax(Z, -1)
        C = (A @ V).transpose(0, 1).reshape(N, D_MODEL)
        return QKV, S, Z, A, C, torch.nn.functional.linear(C, W_O, b_O)

    if not GRADIENT:
        return f"PyTorch {torch.__version__}", torch.inference_mode()(forward)
    parameters = X, W_QKV, W_O, b_QKV, b_O
    for parameter in parameters:
        parameter.requires_grad_()

    def forward_and_backward():
        for parameter in parameters:
            parameter.grad = None
        kept = forward()
        for value in kept:
            value.retain_grad()
        kept[-1].sum().backward()
        return kept

    return f"PyTorch {torch.__version__}", forward_and_backward


def in_numpy():
    import numpy as np
    random = np.random.default_rng(0)

    def normal(*shape):
        return random.standard_normal(shape, dtype=np.float32)

    X, W_QKV, W_O = normal(N, D_MODEL), normal(D_MODEL, 3 * D_MODEL) * np.float32(0.03), normal(D_MODEL, D_MODEL) * np.float32(0.03)
    b_QKV, b_O = normal(3 * D_MODEL), normal(D_MODEL)

    def layer():
        QKV = X @ W_QKV + b_QKV
        Q, K, V = QKV.reshape(N, 3, HEADS, D_K).transpose(1, 2, 0, 3)
        S = Q @ K.transpose(0, 2, 1)
        Z = S * np.float32(SCALE)
        A = np.exp(Z - Z.max(-1, keepdims=True))
        A /= A.sum(-1, keepdims=True)
        C = (A @ V).transpose(1, 0, 2).reshape(N, D_MODEL)
        return QKV, S, Z, A, C, C @ W_O + b_O

    return f"NumPy {np.__version__}", layer


def main():
    try:
        name, layer = in_torch()
    except (ImportError, OSError, ValueError):
        name, layer = in_numpy()
    times = []
    for turn in range(17):
        start = time.perf_counter()
        kept = layer()
        if turn > 1:
            times.append((time.perf_counter() - start) * 1e3)
        del kept
    print(json.dumps({"with": name, "median": statistics.median(times), "min": min(times)}))


main()
