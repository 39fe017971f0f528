"""Pages as LaTeX: they compile without error or overfull box, whatever stands in the problem, and hold the numbers."""

import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from mha import SOURCE, run

HAS_CTEX = shutil.which("xelatex") and subprocess.run(["kpsewhich", "ctex.sty"], capture_output=True).returncode == 0
# Each sign that TeX takes for its own, and ligatures.
EVIL = ["\\input{/etc/passwd}", "%$&#_^~{}", "^^41^^5e", "--``''?`!`<>|\"", "\\end{document}", "a" * 90, "é ü ß"]


def problem_with(labels):
    problem = json.loads(run("examples", "worked").stdout)
    problem["title"] = labels[0]
    problem["tokens"] = labels
    problem["X"] = [[i % 3, i % 2, 1, i % 5 - 2] for i in range(len(labels))]
    return problem


class Latex(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="mha-latex-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def page(self, *arguments, code=0):
        result = run(*arguments, "-o", self.folder / "page.tex")
        self.assertEqual(result.returncode, code, result.stderr.decode())
        return (self.folder / "page.tex").read_text()

    def compile(self, name="page.tex"):
        """The text of the pages."""
        text = (self.folder / name).read_text()
        engine = re.search("% !TEX program = (.*)", text)[1]
        if not shutil.which(engine) or (engine == "xelatex" and not HAS_CTEX):
            self.skipTest(f"needs {engine}")
        done = subprocess.run([engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", name],
                              cwd=self.folder, capture_output=True, timeout=300)
        log = (self.folder / name).with_suffix(".log").read_text(errors="replace")
        self.assertEqual(done.returncode, 0, log[-3000:])
        for fault in ("Overfull", "Missing character", "LaTeX Error"):
            self.assertNotIn(fault, log)
        pdf = (self.folder / name).with_suffix(".pdf")
        return subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, check=True).stdout.decode()

    def test_the_numbers_of_the_worked_example(self):
        source = self.page("run", "worked", "--heads", "1")
        self.assertIn("% Compile with: pdflatex\n", source)
        self.assertIn(r"A^{(1)} = \mathrm{softmax} ( Z^{(1)} ) \text{, each row}", source)
        self.assertIn("\\begin{pmatrix}\n1 & 0 \\\\\n0 & 1 \\\\\n0 & 0 \\\\\n0 & 0\n\\end{pmatrix}", source)  # W_Q
        weights = json.loads(run("run", "worked", "--format", "json").stdout)["heads"][0]["weights"]
        for i, row in enumerate(weights):
            line = " & ".join(rf"\mathbf{{{w:.3f}}}" if i + j == 0 else f"{w:.3f}" for j, w in enumerate(row))
            self.assertIn(rf"\text{{token{i + 1}}} & {line} \cr" if i else line, source)
        self.assertIn("0.401", self.compile())

    def test_hidden_is_minus_infinity_and_what_is_spelled_out_is_aligned(self):
        source = self.page("run", "causal", "--steps", "masked", "--heads", "1")
        matrix = source[source.rindex(r"\bordermatrix"):]
        self.assertEqual(matrix.count(r"-\infty"), 6 + matrix[matrix.index("}}\\]"):].count(r"-\infty"))
        self.assertIn("\\begin{align*}", source)
        self.compile()

    def test_large_matrices_have_dots_and_wide_ones_fit(self):
        (self.folder / "p.json").write_text(json.dumps(problem_with([f"t{i}" for i in range(60)])))
        source = self.page("run", self.folder / "p.json", "--heads", "1")
        for dots in (r"\cdots", r"\vdots", r"\ddots"):
            self.assertIn(dots, source)
        self.compile()
        self.page("run", self.folder / "p.json", "--full", "--heads", "1", "--steps", "weights")
        self.compile()
        (self.folder / "p.json").write_text(json.dumps(problem_with([f"t{i}" for i in range(300)])))
        self.assertIn(b"leave out --full", run("run", self.folder / "p.json", "--full", "--format", "latex").stderr)

    def test_other_commands(self):
        for code, *arguments in ((0, "mistakes", "worked"), (0, "explain", "worked", "Y[1,1]"), (0, "decode", "causal"),
                                 (1, "check", "worked", SOURCE / "tests/golden/answer_two_mistakes.json"), (0, "run", "block"),
                                 (0, "compare", "worked", "--mistake", "no_scale")):
            with self.subTest(arguments[0]):
                self.page(*arguments, code=code)
                self.compile()

    def test_whatever_stands_in_the_problem_is_text(self):
        (self.folder / "p.json").write_text(json.dumps(problem_with(EVIL)))
        source = self.page("run", self.folder / "p.json", "--heads", "1")
        self.assertEqual(source.count("\\end{document}"), 1)
        for command in ("\\input", "\\write", "^^"):
            self.assertNotIn(command, source)
        text = self.compile()
        for word in ("input{/etc/passwd}", "%$&#", "41", "end{document}"):
            self.assertIn(word, text)
        self.assertNotIn("root:", text)

    def test_a_fragment_stands_in_a_document_of_ones_own(self):
        source = self.page("run", "worked", "--fragment")
        self.assertNotIn("\\documentclass", source)
        (self.folder / "own.tex").write_text(
            "% !TEX program = pdflatex\n\\documentclass{article}\n\\usepackage{amsmath,graphicx,array,longtable}\n"
            "\\begin{document}\nMine.\n\\input{page}\n\\input{page}\nBehind.\n\\end{document}\n")
        self.assertIn("Behind.", self.compile("own.tex"))

    def test_chinese_needs_ctex_and_says_so(self):
        source = self.page("run", "bag_zh", "--lang", "zh", "--heads", "1")
        self.assertTrue(source.startswith("% !TEX program = xelatex\n"))
        self.assertIn("ctex", source.splitlines()[1])
        self.compile()


if __name__ == "__main__":
    unittest.main(verbosity=2)
