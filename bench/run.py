#!/usr/bin/env python3
"""Prints how mha compares with its yardsticks, as a Markdown table of ratios that all come from this one run.

run.py [--build DIR] [--write FILE]; --write replaces what stands between FILE's two marker lines.
"""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
MARKERS = ("<!-- bench: begin -->\n", "<!-- bench: end -->")

LOADS = "import json, sys; json.loads(open(sys.argv[1], encoding='utf-8').read())"
DUMP = """
import json, sys, time
with open(sys.argv[1], encoding="utf-8") as file:
    trace = json.load(file)
start = time.perf_counter()
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(trace, file)
print(time.perf_counter() - start)
"""


class Cost(NamedTuple):
    """Of one process: wall-clock time and the most memory that was resident."""
    seconds: float
    bytes: float


class Row(NamedTuple):
    what: str
    mha: str
    yardstick: str
    ratio: float
    limit: float
    at_most: bool  # the ratio is to be at most the limit, else at least

    @property
    def holds(self):
        return self.ratio <= self.limit if self.at_most else self.ratio >= self.limit


def cost(command):
    """Runs the command once, its output thrown away. The child's peak counts this process until exec, which is small."""
    silent = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    arguments = [str(argument) for argument in command]
    start = time.perf_counter()
    child = os.posix_spawn(arguments[0], arguments, os.environ, file_actions=silent)
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"run.py: this failed: {' '.join(arguments)}")
    return Cost(seconds, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))


def compare(repeats, *commands):
    """The median cost of each command; they take turns, so that a busy moment of the machine strikes all of them."""
    rounds = [[cost(command) for command in commands] for _ in range(repeats)]
    return [Cost(*(statistics.median(values) for values in zip(*costs))) for costs in zip(*rounds)]


def milliseconds(seconds):
    return f"{seconds * 1e3:.2f} ms" if seconds < 0.1 else f"{seconds * 1e3:,.0f} ms"


def megabytes(count):
    return f"{count / 1e6:.0f} MB"


def start_up(mha, hello):
    run, greeting = compare(300, [mha, "run", "worked"], [hello])
    yield Row("worked example, whole process; a program that prints one line through fmt",
              milliseconds(run.seconds), milliseconds(greeting.seconds), run.seconds / greeting.seconds, 1.8, True)
    script = [PYTHON, ROOT / "bench" / "worked_numpy.py", ROOT / "data" / "worked.json"]
    run, numpy = compare(15, [mha, "run", "worked"], script)
    yield Row("worked example, whole process, times as fast; the same as a NumPy script",
              milliseconds(run.seconds), milliseconds(numpy.seconds), numpy.seconds / run.seconds, 30, False)


def make_problem(kind, folder):
    file = folder / f"{kind}.json"
    subprocess.run([PYTHON, ROOT / "bench" / "problems.py", kind, file], check=True)
    return file


def reading(mha, folder):
    for kind, numbers in (("long", "17 digits"), ("short", "two decimals")):
        file = make_problem(kind, folder)
        size = file.stat().st_size
        run, loads = compare(5, [mha, "run", file, "--steps", "output", "-o", folder / "out.json"],
                             [PYTHON, "-c", LOADS, file])
        name = f"{megabytes(size)} problem, numbers of {numbers}"
        yield Row(f"{name}: read and run; a Python process that json.loads it",
                  milliseconds(run.seconds), milliseconds(loads.seconds), run.seconds / loads.seconds, 1, True)
        yield Row(f"{name}: peak memory; the file", megabytes(run.bytes), megabytes(size), run.bytes / size, 3, True)
        file.unlink()


def exporting(mha, folder):
    """The export's time is what `-o` adds to a run that shows nothing; its memory is set against a run that prints."""
    problem, trace, dumped = make_problem("trace", folder), folder / "exported.json", folder / "dumped.json"
    bare, page, export = compare(7, [mha, "run", problem, "-q"], [mha, "run", problem], [mha, "run", problem, "-o", trace])
    dump = [PYTHON, "-c", DUMP, trace, dumped]
    dump_seconds = statistics.median(float(subprocess.check_output(dump)) for _ in range(5))
    seconds = export.seconds - bare.seconds
    count = len(re.findall(r"-?\d+\.\d+", trace.read_text(encoding="utf-8")))
    name = f"trace of {count / 1e6:.1f} million numbers"
    yield Row(f"{name}: export, times as fast; json.dump of the same lists",
              milliseconds(seconds), milliseconds(dump_seconds), dump_seconds / seconds, 5, False)
    yield Row(f"{name}: peak memory; the run without export",
              megabytes(export.bytes), megabytes(page.bytes), export.bytes / page.bytes, 1.3, True)


def checking(mha, folder):
    """Answers of worked size, most of them wrong: the traces of every mistake that an exercise can show, again and again."""
    exercise, answers = folder / "exercise", folder / "answers.jsonl"
    subprocess.run([mha, "exercise", "-o", exercise, "--tokens", "3", "--d-model", "4", "--heads", "2"], check=True,
                   stderr=subprocess.DEVNULL)
    traces = json.loads((exercise / "mistakes.json").read_text(encoding="utf-8"))["mistakes"]
    traces.append(json.loads((exercise / "key_rounded.json").read_text(encoding="utf-8")))
    with answers.open("w", encoding="utf-8") as file:
        for i in range(500):
            trace = traces[i % len(traces)]
            answer = {key: trace[key] for key in ("heads", "concat", "output") if key in trace}
            file.write(json.dumps({"name": f"student {i}", **answer}) + "\n")
    check, = compare(5, ["/bin/sh", "-c", '"$0" check "$1" "$2" --format json; test $? = 1',
                         mha, exercise / "problem.json", answers])
    yield Row("500 answers of worked size checked; the 2 s that a class may take", milliseconds(check.seconds),
              milliseconds(2), check.seconds / 2, 1, True)


def judging(mha, folder):
    """A large output alone: right, and times 1.01, which no mistake of the list gives."""
    import numpy as np
    problem, right, wrong = make_problem("judged", folder), folder / "right.npy", folder / "wrong.npy"
    text = json.loads(problem.read_text(encoding="utf-8")) | {"mask": "causal"}
    for name in ("X", "W_Q", "W_K", "W_V", "W_O"):
        np.save(folder / f"{name}.npy", text[name])
        text[name] = {"file": f"{name}.npy"}
    problem.write_text(json.dumps(text), encoding="utf-8")
    write_right = [mha, "run", problem, "--steps", "output", "-o", right]
    run, check = compare(9, write_right, [mha, "check", problem, right, "--as", "Y"])
    np.save(wrong, np.load(right) * 1.01)
    tried, = compare(3, ["/bin/sh", "-c", '"$0" check "$1" "$2" --as Y; test $? = 1', mha, problem, wrong])
    name = "output of n 1000, d_model 256, 8 heads"
    yield Row(f"{name}, right: checked; computed and exported",
              milliseconds(check.seconds), milliseconds(run.seconds), check.seconds / run.seconds, 2, True)
    yield Row(f"{name}, right: peak memory; of that run",
              megabytes(check.bytes), megabytes(run.bytes), check.bytes / run.bytes, 1.5, True)
    yield Row(f"{name}, wrong: every mistake tried; the 10 s that a person waits",
              milliseconds(tried.seconds), milliseconds(10), tried.seconds / 10, 1, True)
    yield Row(f"{name}, wrong: peak memory; 1 GB", megabytes(tried.bytes), megabytes(1e9), tried.bytes / 1e9, 1, True)


def machine(build):
    cpu_info, release = Path("/proc/cpuinfo"), Path("/etc/os-release")
    model = re.search(r"model name\s*:\s*(.*)", cpu_info.read_text()) if cpu_info.exists() else None
    system = re.search(r'PRETTY_NAME="?([^"\n]*)', release.read_text()) if release.exists() else None
    compiler = re.search(r"CMAKE_CXX_COMPILER:\w+=(.*)", (build / "CMakeCache.txt").read_text())[1]
    version = subprocess.check_output([compiler, "--version"], text=True).splitlines()[0]
    return (f"{model[1] if model else platform.machine()}, {os.cpu_count()} cores, "
            f"{system[1] if system else platform.system()}, {version}, Python {platform.python_version()}")


def table(rows, build):
    lines = [f"Measured on: {machine(build)}.", "", "| what; the yardstick | mha | yardstick | ratio | limit | holds |",
             "| --- | ---: | ---: | ---: | ---: | --- |"]
    for row in rows:
        lines.append(f"| {row.what} | {row.mha} | {row.yardstick} | {row.ratio:.2f} | "
                     f"{'≤' if row.at_most else '≥'} {row.limit:g} | {'yes' if row.holds else '**no**'} |")
    return "\n".join(lines) + "\n"


def write(text, file, markers=MARKERS):
    before, begin, rest = file.read_text(encoding="utf-8").partition(markers[0])
    _, end, after = rest.partition(markers[1])
    if not end:
        sys.exit(f"{file} has no two lines {markers[0].strip()} and {markers[1]}")
    file.write_text(before + begin + text + end + after, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="Compares mha with its yardsticks.")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="the folder in which the target bench was built")
    parser.add_argument("--write", type=Path, metavar="FILE", help="replace the table between FILE's markers")
    options = parser.parse_args()
    mha, hello = options.build / "mha", options.build / "bench" / "mha_hello"
    with tempfile.TemporaryDirectory() as name:
        rows = [*start_up(mha, hello), *reading(mha, Path(name)), *exporting(mha, Path(name)),
                *checking(mha, Path(name)), *judging(mha, Path(name))]
    text = table(rows, options.build)
    print(text, end="")
    if options.write:
        write(text, options.write)
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
