"""Devices on the real binary: the list, --device with its exit codes, the cache of built programs, --against."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from mha import MHA, environment

NO_DRIVER = {"OCL_ICD_VENDORS": "/nonexistent"}


def call(*arguments, stdin=b"", **variables):
    """Runs `mha ARGUMENTS…` with these environment variables beside the usual ones."""
    ours = {"HOME": HOME, "POCL_CACHE_DIR": HOME + "/pocl"}  # PoCL has a cache of its own, and fails without it
    def once(**more):
        return subprocess.run([MHA, *arguments], env=environment() | ours | variables | more, input=stdin,
                              capture_output=True, check=False, timeout=300)

    result = once()
    # The search for leaks may itself crash on a thread that PoCL is ending: then this call has none.
    if b"LeakSanitizer has encountered a fatal error" in result.stderr:
        result = once(ASAN_OPTIONS="detect_leaks=0")
    return result


def setUpModule():
    global HOME, HOLDER
    HOLDER = tempfile.TemporaryDirectory()
    HOME = HOLDER.name


def tearDownModule():
    HOLDER.cleanup()


def has_opencl():
    return b"opencl:0" in call("devices").stdout


class WithoutOpenCl(unittest.TestCase):
    def refused(self, code, *arguments, words=(), **variables):
        result = call(*arguments, **variables)
        message = result.stderr.decode()
        self.assertEqual(result.returncode, code, message)
        self.assertEqual(result.stdout, b"")
        self.assertTrue(message.startswith("mha: "), message)
        self.assertEqual(message.count("\n"), 1, message)
        for word in words:
            self.assertIn(word, message)

    def test_the_list_without_a_driver(self):
        result = call("devices", **NO_DRIVER)
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout.decode(), r"\ndevice .*\n|^device .*\ncpu ")
        self.assertNotIn(b"opencl:0", result.stdout)
        self.assertIn(b"no OpenCL device: ", result.stdout)

    def test_what_is_not_there_is_exit_code_3(self):
        for device in ("gpu", "opencl", "opencl:0"):
            self.refused(3, "run", "--device", device, words=["there is only cpu", "--device "], **NO_DRIVER)
        self.refused(3, "run", "--device", "opencl:7", words=["--device opencl:7", "cpu"])

    def test_no_output_is_touched_when_the_device_is_not_there(self):
        path = Path(HOME) / "kept.json"
        path.write_text("mine")
        self.refused(3, "run", "--device", "opencl:7", "-o", str(path))
        self.assertEqual(path.read_text(), "mine")
        self.assertEqual([name for name in os.listdir(HOME) if name.startswith(".kept") or "kept.json." in name], [])

    def test_what_is_no_device_is_exit_code_2(self):
        for device in ("gpuu", "opencl:x", "opencl:-1", "", "cuda"):
            self.refused(2, "run", "--device", device, words=["expected cpu, gpu, opencl"])
        self.refused(2, "run", "--against", "gpu", words=["--against"])
        self.refused(2, "run", "--against", "cpu", "--round", "3", words=["--round"])

    def test_auto_is_the_cpu_where_there_is_no_gpu(self):
        result = call("run", "--device", "auto", "--format", "json", **NO_DRIVER)
        self.assertEqual(json.loads(result.stdout)["device"], "cpu")

    def test_cpu_never_touches_the_library(self):
        """strace is not everywhere, so the loader itself tells what it loads."""
        result = call("run", "--device", "cpu", LD_DEBUG="libs")
        self.assertNotIn(b"libOpenCL", result.stderr)
        asked = call("devices", LD_DEBUG="libs")
        if b"libm.so" in asked.stderr:  # a loader that tells
            self.assertIn(b"libOpenCL", asked.stderr)

    def test_the_binary_needs_no_opencl_library(self):
        """Its own list of libraries names none; it is looked for when a device is asked for."""
        listed = subprocess.run(["ldd", MHA], capture_output=True, check=False)
        if listed.returncode == 0:
            self.assertNotIn(b"OpenCL", listed.stdout)

    def test_against_on_the_cpu(self):
        for dtype in ("f64", "f32"):
            result = call("run", "grouped", "--dtype", dtype, "--against", "cpu")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(b"All steps are within what the arithmetic allows.", result.stdout)
        chinese = call("run", "grouped", "--dtype", "f32", "--against", "cpu", "--lang", "zh").stdout.decode()
        self.assertIn("所有步骤都在运算允许的误差之内。", chinese)


class WithOpenCl(unittest.TestCase):
    def setUp(self):
        if not has_opencl():
            if os.environ.get("CI"):
                self.fail("CI must test OpenCL, but mha devices lists no OpenCL device")
            self.skipTest("no OpenCL device here")

    def trace(self, *arguments, **variables):
        result = call("run", *arguments, "--format", "json", **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_the_list(self):
        text = call("devices").stdout.decode()
        self.assertRegex(text, r"(?m)^cpu +\d+\.\d GiB +yes ")
        self.assertRegex(text, r"(?m)^opencl:0 +\d+\.\d GiB +(yes|no) ")
        self.assertIn("设备", call("devices", "--lang", "zh").stdout.decode())

    def test_a_run_names_its_device(self):
        trace = json.loads(self.trace("--device", "opencl"))
        self.assertTrue(trace["device"].startswith("opencl:0 ("))
        self.assertEqual(trace["heads"][0]["scores"], [[1, 0, 1], [0, 4, 2], [1, 2, 2]])
        self.assertIn(b"opencl:0 (", call("run", "--device", "opencl:0").stdout)
        explained = call("explain", "S1[2,2]", "--device", "opencl").stdout
        self.assertIn(b"= 4", explained)

    def test_against(self):
        for problem in ("worked", "grouped", "batch", "torch"):
            result = call("run", problem, "--device", "opencl", "--dtype", "f32", "--against", "cpu", "--format", "json")
            self.assertEqual(result.returncode, 0, result.stderr)
            report = json.loads(result.stdout)
            self.assertEqual(report["format"], "mha-against")
            self.assertTrue(report["pass"])
            trace = json.loads(self.trace(problem, "--device", "opencl", "--dtype", "f32"))
            self.assertEqual(report["device"], trace["device"])
            for step in report["steps"]:
                self.assertLessEqual(step["nearest_to_bound"]["difference"], step["nearest_to_bound"]["bound"])

    def test_against_with_an_output_writes_both(self):
        path = Path(HOME) / "t.json"
        result = call("run", "--device", "opencl", "--against", "cpu", "-o", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"Held against the CPU", result.stdout)
        self.assertEqual(path.read_bytes(), self.trace("--device", "opencl"))

    def assert_whole(self, file):
        """A line that says what the file is, and a line with the checksum (FNV-1a) of all that follows."""
        title, checksum, content = file.split(b"\n", 2)
        self.assertEqual(title, b"mha OpenCL program 1")
        value = 0xCBF29CE484222325
        for byte in content:
            value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
        self.assertEqual(int(checksum, 16), value)

    def test_the_cache_changes_no_output(self):
        """Empty, filled, damaged, not there, or not to be written: the same bytes."""
        cache = Path(HOME) / "cache"
        arguments = ("grouped", "--device", "opencl", "--dtype", "f32")
        first = self.trace(*arguments, XDG_CACHE_HOME=str(cache))
        (kept,) = (cache / "mha").glob("opencl-*.bin")
        good = kept.read_bytes()
        self.assertEqual(self.trace(*arguments, XDG_CACHE_HOME=str(cache)), first)
        for bad in (b"", b"rubbish", good[:-7], good[:1000] + b"x" * 50 + good[1050:]):
            kept.write_bytes(bad)
            self.assertEqual(self.trace(*arguments, XDG_CACHE_HOME=str(cache)), first)
            self.assert_whole(kept.read_bytes())
        self.assertEqual([path.name for path in (cache / "mha").iterdir()], [kept.name])
        for elsewhere in ("/dev/null/x", "relative"):
            self.assertEqual(self.trace(*arguments, XDG_CACHE_HOME=elsewhere), first)
        self.assertFalse(Path("relative").exists())  # the XDG rules want an absolute path

    def test_too_little_memory(self):
        """PoCL gives one buffer at most a share of the memory, and what it reports can be limited to 1 GiB."""
        if b"pthread-" not in call("devices").stdout:
            self.skipTest("no PoCL device")
        tokens = 12000  # 12000 × 12000 float64 are 1.1 GiB
        one = {"W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}
        problem = json.dumps({"X": [[1]] * tokens, "heads": [one], "W_O": [[1]]}).encode()
        path = Path(HOME) / "large.json"
        result = call("run", "-", "--device", "opencl", "--steps", "output", "-o", path, stdin=problem,
                      POCL_MEMORY_LIMIT="1")
        message = result.stderr.decode()
        self.assertEqual(result.returncode, 3, message)
        self.assertRegex(message, r"^mha: opencl:0 \(.*\) cannot compute scores: its memory is too small[^\n]*\n$")
        self.assertFalse(path.exists())


if __name__ == "__main__":
    unittest.main()
