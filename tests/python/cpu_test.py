"""The CPU's kernels in the real binary: every copy serves every case, and none can be met on a processor that lacks it."""

import json
import math
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from mha import MHA, SOURCE, environment, run

CASES = sorted((SOURCE / "tests" / "cases").iterdir())
TOLERANCE = {"f64": 1e-12, "f32": 1e-5}

FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
INSTRUCTION = re.compile(r"^\s+[0-9a-f]+:\s+(?:(?:data16|lock|rep\w*|bnd|notrack|cs)\s+)*(\S+)\s*(.*)$")


def run_with(kernels, *arguments):
    return subprocess.run([MHA, *arguments], env=environment() | {"MHA_CPU": kernels}, capture_output=True, check=False)


def available():
    """The kernels that this machine can run, from the message that lists them."""
    message = run_with("none such", "run").stderr.decode()
    return re.search(r"This machine can run (.*)", message)[1].split(", ")


def numbers(value):
    if isinstance(value, list):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, dict):
        for key in sorted(value):
            yield from numbers(value[key])
    else:
        yield float(value)


class Kernels(unittest.TestCase):
    def test_every_copy_computes_every_case(self):
        for kernels in available():
            for case in CASES:
                expected = json.loads((case / "trace.json").read_text(encoding="utf-8"))
                for dtype, tolerance in TOLERANCE.items():
                    with self.subTest(kernels=kernels, case=case.name, dtype=dtype), tempfile.TemporaryDirectory() as folder:
                        trace = Path(folder) / "trace.json"
                        result = run_with(kernels, "run", case / "problem.json", "--dtype", dtype, "-q", "-o", trace)
                        self.assertEqual((result.returncode, result.stderr), (0, b""))
                        self.compare(json.loads(trace.read_text(encoding="utf-8")), expected, tolerance)

    def compare(self, trace, expected, tolerance):
        for key in ("heads", "packed", "concat", "output"):
            if key not in expected:
                continue
            for found, right in zip(numbers(trace[key]), numbers(expected[key]), strict=True):
                if found == right or (math.isnan(found) and math.isnan(right)):
                    continue
                self.assertLessEqual(abs(found - right), tolerance * max(1, abs(right)), key)

    def test_an_unknown_name_is_refused(self):
        result = run_with("v9", "run")
        self.assertEqual(result.returncode, 2)
        self.assertTrue(result.stderr.startswith(b"mha: MHA_CPU='v9'"), result.stderr)
        self.assertEqual(result.stdout, b"")

    def test_the_worked_example_is_the_same_to_the_last_digit_without_a_name(self):
        self.assertEqual(run("run", "--format", "json").stdout, run_with("plain", "run", "--format", "json").stdout)


class Disassembly(unittest.TestCase):
    """Every VEX or EVEX instruction begins with a v, and stands in the kernels compiled for a processor that has it."""

    @unittest.skipUnless(os.uname().machine == "x86_64" and shutil.which("objdump"), "no objdump for x86-64 here")
    @unittest.skipIf(b"__asan_init" in MHA.read_bytes(), "the sanitizers' build is never handed to anybody, and is large")
    def test_new_instructions_stand_in_their_own_kernels_only(self):
        listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", MHA], capture_output=True, text=True, check=True)
        function, functions, wide = "", set(), {"v3": 0, "v4": 0}
        for line in listing.stdout.splitlines():
            if name := FUNCTION.match(line):
                function = name[1]
                functions.add(function)
                continue
            instruction = INSTRUCTION.match(line)
            if not instruction or not instruction[1].startswith("v") or instruction[1] in ("verr", "verw"):
                continue
            operands = instruction[2]
            evex = "%zmm" in operands or re.search(r"%[xy]mm(1[6-9]|2\d|3[01])|%k[0-7]|\{", operands)
            allowed = ("v4",) if evex else ("v3", "v4")
            home = next((v for v in allowed if f"N3mha7compute2{v}" in function), None)
            self.assertIsNotNone(home, f"{function}: {line.strip()}")
            wide[home] += 1
        self.assertTrue(any("N3mha7compute2v2" in name for name in functions), "no kernels for v2")
        self.assertGreater(wide["v3"], 100)
        self.assertGreater(wide["v4"], 100)


if __name__ == "__main__":
    unittest.main()
