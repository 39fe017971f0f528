#!/usr/bin/env python3
"""A BERT-base layer (d_model 768, 12 heads, biases, float32, all steps kept): mha, the floor and PyTorch (else NumPy).

layer.py [--gradient] [--build DIR] [--python PYTHON] [--rounds N] [--write FILE]; the three take turns, a process each, at n = 128, 512,
1024 and 2048. Each process reports the median of its 15 rounds; the table has the medians over the turns, and of the ratios.
With --gradient: forward and backward, every gradient kept, mha and PyTorch.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from run import ROOT, machine, write

SIZES = (128, 512, 1024, 2048)
MARKERS = ("<!-- layer: begin -->\n", "<!-- layer: end -->")
GRADIENT_MARKERS = ("<!-- gradient: begin -->\n", "<!-- gradient: end -->")


def report(command):
    return json.loads(subprocess.check_output([str(word) for word in command]))


def turn(n, options):
    """One process of each; milliseconds of mha, of the floor, and of the Python library with its name."""
    threads = str(options.threads)
    mha = report([options.build / "mha", "bench", "--tokens", n, "--d-model", 768, "--heads", 12, "--dtype", "f32",
                  "--threads", threads, "--format", "json", *["--gradient"][:options.gradient]])["total_ms"]["median"]
    floor = 0 if options.gradient else report([options.build / "bench" / "mha_floor", n, threads])["median"]
    python = report([options.python, ROOT / "bench" / "layer_python.py", n, threads, *["gradient"][:options.gradient]])
    return mha, floor, python["median"], python["with"]


def row(n, turns):
    mha, floor, python = (statistics.median(t[i] for t in turns) for i in range(3))
    if floor == 0:
        return f"| {n} | {mha:.2f} ms | {python:.1f} ms | {statistics.median(t[2] / t[0] for t in turns):.2f} |"
    to_floor = statistics.median(t[0] / t[1] for t in turns)
    to_python = statistics.median(t[2] / t[0] for t in turns)
    return f"| {n} | {mha:.2f} ms | {floor:.2f} ms | {python:.1f} ms | {to_floor:.2f} | {to_python:.2f} |"


def main():
    parser = argparse.ArgumentParser(description="Compares a layer of a real size with its yardsticks.")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="where the target bench_layer was built")
    parser.add_argument("--python", default=sys.executable, help="the Python to ask for PyTorch or NumPy")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=5, help="how often each of the three has its turn")
    parser.add_argument("--gradient", action="store_true", help="the backward pass as well")
    parser.add_argument("--write", type=Path, metavar="FILE", help="replace the table between FILE's markers")
    options = parser.parse_args()
    lines, name = [], ""
    for n in SIZES:
        turns = [turn(n, options) for _ in range(options.rounds)]
        name = turns[0][3]
        lines.append(row(n, turns))
        print(lines[-1], file=sys.stderr, flush=True)
    heads = f"| n | mha | floor | {name} | mha / floor | {name} / mha |\n| --- | ---: | ---: | ---: | ---: | ---: |\n"
    if options.gradient:
        heads = f"| n | mha | {name} | {name} / mha |\n| --- | ---: | ---: | ---: |\n"
    text = (f"Measured on: {machine(options.build)}, {options.threads} threads, {options.rounds} turns each.\n\n"
            + heads + "\n".join(lines) + "\n")
    print(text, end="")
    if options.write:
        write(text, options.write, GRADIENT_MARKERS if options.gradient else MARKERS)


if __name__ == "__main__":
    main()
