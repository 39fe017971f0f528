"""The computation of `mha run`'s worked example as a NumPy script: worked_numpy.py PROBLEM."""

import json
import sys

import numpy as np

with open(sys.argv[1], encoding="utf-8") as file:
    problem = json.load(file)
X = np.array(problem["X"], dtype=float)
outputs = []
for number, head in enumerate(problem["heads"], 1):
    Q, K, V = (X @ np.array(head[name], dtype=float) for name in ("W_Q", "W_K", "W_V"))
    scores = Q @ K.T
    scaled = scores / np.sqrt(Q.shape[1])
    weights = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    outputs.append(weights @ V)
    for name, matrix in (("Q", Q), ("K", K), ("V", V), ("S", scores), ("Z", scaled), ("A", weights), ("head", outputs[-1])):
        print(f"{name}{number}\n{np.round(matrix, 3)}")
concat = np.hstack(outputs)
print(f"Concat\n{np.round(concat, 3)}\nY\n{np.round(concat @ np.array(problem['W_O'], dtype=float), 3)}")
