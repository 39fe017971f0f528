"""With --lang zh, or in a Chinese locale, everything that mha says is Chinese: help, pages, worksheets and messages.

What refuses an input is asked in Chinese wherever any test meets a refusal (mha.py).
"""

import json
import os
import re
import subprocess
import tempfile
import unittest

import in_chinese
from mha import MHA, SOURCE, run

COMMANDS = ["run", "explain", "check", "compare", "exercise", "import", "mistakes", "examples", "devices", "bench", "schema",
            "cost", "shapes", "models", "inspect", "decode"]


def labels():
    """What the examples call their tokens, which is in any language."""
    names = set()
    for path in (SOURCE / "data").glob("*.json"):
        problem = json.loads(path.read_text(encoding="utf-8"))
        for key in ("tokens", "tokens_kv"):
            for entry in problem.get(key, []):
                names.update(entry if isinstance(entry, list) else [entry])
        names.update(head["name"] for head in problem.get("heads", []) if "name" in head)
    return re.compile("|".join(rf"\b{re.escape(name)}\b" for name in sorted(names, key=len, reverse=True) if re.match("[A-Za-z]", name)))


LABELS = labels()


def in_locale(*arguments, **options):
    environment = {"PATH": "/usr/bin:/bin", "LANG": "zh_CN.UTF-8"}
    return subprocess.run([MHA, *arguments], env=environment, capture_output=True, check=False, timeout=120, **options)


class Chinese(unittest.TestCase):
    maxDiff = None

    def expect_chinese(self, text, *places):
        text = text if isinstance(text, str) else text.decode()
        self.assertEqual(in_chinese.left_in_english(LABELS.sub("·", text)) + in_chinese.half_width(text), [], places)
        return text

    def test_help(self):
        for arguments in [["--help"], [], *([command, "--help"] for command in COMMANDS)]:
            done = in_locale(*arguments)
            self.assertEqual(done.returncode, 0)
            text = self.expect_chinese(re.sub(r"(?m)^ {2}(mha|cat|unzip).*?( {2,}|$)", "", done.stdout.decode()), arguments)
            self.assertRegex(text, "用法：mha")
            self.assertLessEqual(max(map(in_chinese.width, done.stdout.decode().splitlines())), 80, arguments)

    def test_help_in_english_fits_as_well(self):
        for command in COMMANDS:
            for line in run(command, "--help").stdout.decode().splitlines():
                self.assertLessEqual(in_chinese.width(line), 80, line)

    def test_help_by_option(self):
        self.assertEqual(run("run", "--help", "--lang", "zh").stdout, in_locale("run", "--help").stdout)
        self.assertEqual(run("run", "--lang=zh", "--help").stdout, in_locale("run", "--help").stdout)
        self.assertEqual(run("--help", "--lang", "zh").stdout, in_locale().stdout)

    def test_pages(self):
        examples = sorted(path.stem for path in (SOURCE / "data").glob("*.json"))
        for arguments in [*(["run", name] for name in examples), ["run", "worked", "--round", "2"], ["mistakes"],
                          ["mistakes", "causal"], ["examples"], ["explain", "Y[1,1]", "--depth", "all"],
                          ["explain", "packed", "Q2[1,1]"], ["compare", "bag_zh", "bag_one_head_zh"],
                          ["compare", "worked", "--mistake", "no_scale"], ["compare", "worked", "causal"],
                          ["compare", "worked", "--as-layers"], ["compare", "worked", "--as-one-head"], ["compare", "packed", "--loop"],
                          ["compare", "worked", "--mistake", "softmax_overflow"], ["devices"],
                          ["run", "worked", "--against", "cpu"], ["bench", "worked", "--repeat", "1", *([] if MHA.parent.name == "build-asan" else ["--loop"])],
                          ["cost", "stack"], ["cost", "--model", "gemma-7b", "--tokens", "9", "--bias", "--mlp", "7"],
                          ["cost", "worked", "--sweep", "heads"], ["cost", "worked", "--against", "heads=1"],
                          ["inspect", "worked"], ["inspect", "stack", "grouped", "padding", "cross"],
                          ["decode"], ["decode", "rotary"], ["decode", "stack", "--prompt", "3"], ["shapes", "stack"], ["shapes", "grouped"], ["shapes", "packed", "--labels"]]:
            done = in_locale(*arguments)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            self.expect_chinese(done.stdout, arguments)
            self.expect_chinese(done.stderr, arguments)

    def test_mistakes_in_an_answer(self):
        with tempfile.TemporaryDirectory() as folder:
            made = in_locale("exercise", "--mask", "causal", "--bias", "-o", folder)
            self.assertEqual(made.returncode, 0, made.stderr.decode())
            self.expect_chinese(made.stderr)
            with open(os.path.join(folder, "worksheet.txt"), encoding="utf-8") as sheet:
                self.expect_chinese(sheet.read())
            with open(os.path.join(folder, "mistakes.json"), encoding="utf-8") as file:
                mistakes = json.load(file)["mistakes"]
            answer = os.path.join(folder, "mine.json")
            for mistake in mistakes[::3]:
                with open(answer, "w", encoding="utf-8") as file:
                    json.dump({key: mistake[key] for key in ("heads", "concat", "output") if key in mistake}, file)
                done = in_locale("check", os.path.join(folder, "problem.json"), answer)
                self.assertIn(done.returncode, (0, 1))
                self.expect_chinese(done.stdout, mistake["id"])

    def test_options_and_files(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "there"))
            for arguments in [
                    ["rnu"], ["--nothing"], ["run", "--nothing"], ["run", "--heads"], ["run", "--full=3"],
                    ["run", "--lang", "fr"], ["run", "--heads", "1", "--heads", "2"], ["run", "a", "b"], ["run", "1"],
                    ["run", "--heads", "3"], ["run", "--steps", "x"], ["run", "--format", "pdf"], ["run", "-o", "x.pdf"],
                    ["run", "--work", "some"], ["run", "--round", "-1"], ["run", "--batch", "2"], ["run", "there"],
                    ["run", "--pause"], ["run", "-o", "no/such/folder.json"], ["run", "-o", "there"], ["run", "nothing.json"],
                    ["explain"], ["explain", "Y"], ["explain", "Y[9,1]"], ["explain", "P[1,1]"], ["explain", "Y[1,1]", "--depth", "0"],
                    ["check"], ["check", "worked", "there"], ["check", "worked", "nothing.json"],
                    ["check", "-", "-"], ["check", "worked", "-", "--sigfig", "3", "--tol", "1"],
                    ["compare", "worked"], ["compare", "worked", "--mistake", "x"], ["compare", "worked", "--mistake", "rope_missing"],
                    ["exercise"], ["exercise", "-o", "e", "--heads", "4"], ["exercise", "-o", "e", "--kv-heads", "2"],
                    ["exercise", "-o", "e", "--difficulty", "none"], ["import"], ["import", "there", "-o", "p.json"],
                    ["examples", "wroked"], ["schema"], ["schema", "all"], ["bench", "--tokens", "0"],
                    ["run", "--device", "abacus"], ["run", "--device", "opencl:99"]]:
                done = in_locale(*arguments, cwd=folder, input=b"")
                self.assertIn(done.returncode, (2, 3, 4), arguments)
                self.assertEqual(in_chinese.faults_of_message(done.stderr.decode()), [], arguments)


if __name__ == "__main__":
    unittest.main()
