"""Writes a large problem of random numbers for the benchmarks: problems.py KIND FILE."""

import json
import sys

import numpy as np

# kind: tokens, d_model, heads, spread of the weights, decimals of each number (None: all 17 digits)
KINDS = {
    "long": (16, 824, 8, 0.03, None),  # 60 MB, nearly all of it weights
    "short": (16, 1528, 8, 1, 2),  # 60 MB of numbers like 0.37 and -1.2
    "trace": (328, 128, 8, 0.1, None),  # a trace of 3 million numbers
    "judged": (1000, 256, 8, 0.06, None),  # a layer of a real size
}


def problem(tokens, d_model, heads, spread, decimals):
    random = np.random.default_rng(2017)

    def matrix(rows, cols, deviation):
        numbers = random.normal(0, deviation, (rows, cols))
        return (numbers if decimals is None else np.round(numbers, decimals)).tolist()

    weights = {name: matrix(d_model, d_model, spread) for name in ("W_Q", "W_K", "W_V", "W_O")}
    return {"X": matrix(tokens, d_model, 1), "num_heads": heads, **weights}


if __name__ == "__main__":
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(json.dumps(problem(*KINDS[sys.argv[1]])))
