"""The notebooks: valid for nbformat, and run by Jupyter's own kernel, where the page's code gives the trace and the exercise's
last cell the verdict."""

import json
import os
import tempfile
import unittest
from pathlib import Path

import numpy as np

from mha import MHA, run

try:
    import nbclient
    import nbformat
except ImportError:
    nbclient = None

EXAMPLES = ["worked", "causal", "cross", "cached", "grouped", "rotary", "packed", "torch", "block", "gated", "stack", "linear"]
NAMES = {"Q": "Q", "K": "K", "V": "V", "Q_rot": "Q_rot", "K_rot": "K_rot", "scores": "S", "scaled": "Z", "capped": "Z_capped",
         "masked": "M", "weights": "A", "head_output": "head", "concat": "Concat", "output": "Y", "norm": "N", "residual": "R",
         "mlp_norm": "N_mlp", "gate": "G", "hidden": "H", "activated": "U", "mlp": "F", "mlp_residual": "R_mlp",
         "final_norm": "N_final"}
TELL = ("print('numbers', json.dumps({name: value.tolist() for name, value in globals().items() "
        "if isinstance(value, np.ndarray) and not name.startswith('_')}))")


def matrices(trace):
    """By the names that the code uses."""
    found = {"X": trace["X"]}

    def add(level, before):
        for key, value in level.items():
            if key == "heads":
                for head in value:
                    found.update({f"{before}{NAMES[step]}{head['head']}": matrix for step, matrix in head.items()
                                  if isinstance(matrix, list)})
            elif key == "layers":
                for one in value:
                    add(one, f"layer{one['layer']}_")
            elif isinstance(value, list) and key != "X":
                found[before + NAMES[key]] = value

    add(trace, "")
    return {name: np.array([[float(x) for x in row] for row in value]) for name, value in found.items()}


@unittest.skipUnless(nbclient, "nbformat and nbclient are not here: notebooks are not run")
class Notebooks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = os.environ["PATH"]
        os.environ["PATH"] = f"{MHA.parent}:{self.path}"
        self.addCleanup(os.environ.__setitem__, "PATH", self.path)

    def read(self, path):
        notebook = nbformat.read(path, 4)
        nbformat.validate(notebook)
        return notebook

    def execute(self, notebook):
        """What is printed, all cells together."""
        nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3",
                                resources={"metadata": {"path": str(self.folder)}}).execute()
        return "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))

    def numbers(self, notebook):
        notebook.cells.append(nbformat.v4.new_code_cell(TELL))
        line = next(line for line in self.execute(notebook).splitlines() if line.startswith("numbers "))
        return {name: np.array(value, dtype=float) for name, value in json.loads(line.removeprefix("numbers ")).items()}

    def page(self, *arguments):
        result = run("run", *arguments, "-q", "-o", self.folder / "page.ipynb")
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.read(self.folder / "page.ipynb")

    def test_the_code_of_a_page_computes_the_trace(self):
        for example in EXAMPLES:
            with self.subTest(example):
                notebook = self.page(example)
                assigned = {cell.source.split(" = ")[0] for cell in notebook.cells if cell.cell_type == "code"}
                found = self.numbers(notebook)
                for name, right in matrices(json.loads(run("run", example, "-q", "--format", "json").stdout)).items():
                    if name in found:  # shared keys and values have the name of their first head
                        np.testing.assert_allclose(found[name], right, rtol=1e-12, atol=1e-12, err_msg=name)
                        self.assertTrue(name in assigned or name == "X", name)  # by a cell of its own, not as given
                    else:
                        self.assertIn(name[:1], "KV" if example == "grouped" else "", name)

    def test_a_page_of_gradients_gives_their_numbers(self):
        for example, loss in (("worked", "sum"), ("rotary", "sum"), ("gated", "gradient")):
            with self.subTest(example):
                if loss == "gradient":
                    Y = json.loads(run("run", example, "-q", "--format", "json").stdout)["mlp_residual"]
                    (self.folder / "G.json").write_text(json.dumps([[(i - j) / 10 for j, _ in enumerate(row)]
                                                                    for i, row in enumerate(Y)]), encoding="utf-8")
                    loss = f"gradient:{self.folder / 'G.json'}"
                result = run("gradient", example, "--loss", loss, "-q", "-o", self.folder / "page.ipynb")
                self.assertEqual(result.returncode, 0, result.stderr)
                found = self.numbers(self.read(self.folder / "page.ipynb"))
                trace = json.loads(run("gradient", example, "--loss", loss, "-q", "--format", "json").stdout)
                right = matrices({k: v for k, v in trace["gradients"].items() if k != "parameters"})
                self.assertLess({"X", "A1", "Q1", "Y"}, set(right))
                for name, matrix in right.items():
                    np.testing.assert_array_equal(found["d" + name], matrix, err_msg=name)
                for name, matrix in matrices(trace).items():
                    if name in found:
                        np.testing.assert_array_equal(found[name], matrix, err_msg=name)

    def test_both_languages_stand_in_the_cells(self):
        both = self.page("worked", "--lang", "both")
        code = [cell.source for cell in both.cells if cell.cell_type == "code"]
        told = "\n".join(cell.source for cell in both.cells if cell.cell_type == "markdown")
        for words in ("### 4 Scores / 注意力分数", "\nhow well each query fits each key\n", "\n每个查询与每个键有多匹配\n"):
            self.assertEqual(told.count(words), 2, words)  # of two heads
        self.assertEqual(told.count("\\text{with the exponents unrounded / 指数未经舍入}"), 2)
        for language in ("en", "zh"):
            alone = self.page("worked", "--lang", language)
            self.assertEqual([cell.source for cell in alone.cells if cell.cell_type == "code"], code)
            for cell in alone.cells:
                for line in cell.source.split("\n"):
                    if not line.startswith(("#", "$")) and "\\text{" not in line:
                        self.assertIn(line, told if cell.cell_type == "markdown" else "\n".join(code))
        right = matrices(json.loads(run("run", "worked", "--format", "json").stdout))
        np.testing.assert_allclose(self.numbers(both)["Y"], right["Y"], atol=1e-12)
        sheet = self.exercise("--lang", "both", "-o", self.folder / "sheet.ipynb")
        told = "\n".join(cell.source for cell in sheet.cells)
        for words in ("has it checked", "并进行检查", "a matrix for NumPy", "换成 NumPy 矩阵"):
            self.assertIn(words, told)

    def test_what_comes_next_is_told(self):
        def told(*arguments):
            result = run("exercise", *arguments, cwd=self.folder)
            self.assertEqual((result.returncode, result.stdout), (0, b""))
            return result.stderr.decode().splitlines()[-1]

        line = told("-o", "sheet.ipynb")
        for words in ("sheet.ipynb is to be filled in", "`jupyter lab sheet.ipynb`", "writes answer.json"):
            self.assertIn(words, line)
        self.assertIn("`jupyter lab week/sheet.ipynb`", told("--notebook", "-o", "week"))
        self.assertIn("`jupyter lab deep/sheet.ipynb`", told("-o", "deep/sheet.ipynb"))
        for name, checked in (("a/sheet.xlsx", "a/sheet.xlsx"), ("b/sheet.html", "b/answer.json")):
            folder = name.split("/", maxsplit=1)[0]
            line = told("-o", name)
            self.assertIn(f"`mha check {folder}/problem.json {checked}`", line)
            self.assertTrue((self.folder / folder / "problem.json").exists())

    def test_what_a_page_does_not_compute_is_given(self):
        for more in (["--steps", "weights"], ["--heads", "2"], ["--steps", "output"]):
            with self.subTest(more):
                found = self.numbers(self.page("worked", *more))
                right = matrices(json.loads(run("run", "worked", "--format", "json").stdout))
                shared = set(found) & set(right)
                self.assertTrue(shared & {"A1", "Y", "A2"})
                for name in shared:
                    np.testing.assert_allclose(found[name], right[name], atol=1e-12)

    def test_rounded_as_with_a_pencil(self):
        found = self.numbers(self.page("worked", "--round", "2"))
        right = matrices(json.loads(run("run", "worked", "--round", "2", "--format", "json").stdout))
        for name, matrix in right.items():
            np.testing.assert_allclose(found[name], matrix, atol=1e-12, err_msg=name)

    def test_a_large_page_has_no_code(self):
        problem = json.loads(run("examples", "worked").stdout)
        del problem["tokens"]
        problem["X"] = [[i % 5, 1, 0, 2] for i in range(400)]
        (self.folder / "large.json").write_text(json.dumps(problem), encoding="utf-8")
        notebook = self.page(self.folder / "large.json")
        self.assertEqual({cell.cell_type for cell in notebook.cells}, {"markdown"})
        self.assertTrue(any("--full" in cell.source for cell in notebook.cells))

    def test_labels_stay_text(self):
        problem = json.loads(run("examples", "worked").stdout)
        problem["tokens"], problem["title"] = ['"""', "</script>", "\u2028\\"], 'a "title"\n%run x'
        (self.folder / "odd.json").write_text(json.dumps(problem), encoding="utf-8")
        notebook = self.page(self.folder / "odd.json")
        self.assertFalse(any('"""\n' in cell.source and "token" in cell.source for cell in notebook.cells if
                             cell.cell_type == "code"))
        self.numbers(notebook)

    def exercise(self, *arguments, name="sheet.ipynb"):
        result = run("exercise", "--tokens", "3", "--d-model", "4", "--heads", "2", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.read(self.folder / name)

    def test_an_exercise_is_filled_in_and_checked(self):
        for language, told in (("en", {"blank": "no matrix", "half": "Incomplete", "right": "right", "wrong": "wrong"}),
                               ("zh", {"blank": "没有", "half": "未完成", "right": "正确", "wrong": "错误"})):
            with self.subTest(language):
                for file in self.folder.iterdir():
                    file.unlink()
                notebook = self.exercise("--mask", "causal", "--lang", language, "-o", self.folder / "sheet.ipynb")
                self.assertTrue((self.folder / "problem.json").exists())
                right = matrices(json.loads(run("run", self.folder / "problem.json", "--format", "json").stdout))
                given = self.numbers(self.read(self.folder / "sheet.ipynb"))
                np.testing.assert_array_equal(given["X"], right["X"])
                fills = [cell for cell in notebook.cells if cell.cell_type == "code" and " = ...  #" in cell.source]
                self.assertEqual([cell.source.split(" = ")[0] for cell in fills],
                                 [name for name in right if name != "X"])  # every step, in its order

                def fill_in(cells, change=0):
                    for cell in cells:
                        name = cell.source.split(" = ")[0]
                        cell.source = f"{name} = np.array({(right[name] + change).tolist()})".replace("-inf", "-np.inf")

                fill_in(fills)
                self.assertIn(told["right"], self.execute(notebook))
                self.assertEqual(run("check", self.folder / "problem.json", self.folder / "answer.json").returncode, 0)
                fill_in(fills[3:4], 1)
                self.assertIn(told["wrong"], self.execute(notebook))
                self.assertEqual(run("check", self.folder / "problem.json", self.folder / "answer.json").returncode, 1)
                self.assertIn(told["blank"], self.execute(self.read(self.folder / "sheet.ipynb")))

    def test_beside_the_other_files_and_not_over_work(self):
        self.exercise("--notebook", "--residual", "--norm", "layer", "--mlp", "4", "-o", self.folder)
        self.assertTrue((self.folder / "worksheet.md").exists())
        sheet = self.folder / "sheet.ipynb"
        sheet.write_text(sheet.read_text(encoding="utf-8").replace("Q1 = ...", "Q1 = 1"), encoding="utf-8")
        again = run("exercise", "--tokens", "3", "--d-model", "4", "--heads", "2", "--notebook", "--residual", "--norm", "layer",
                    "--mlp", "4", "-o", self.folder)
        self.assertEqual(again.returncode, 2)
        self.assertIn(b"may be filled in", again.stderr)
        self.assertIn("Q1 = 1", sheet.read_text(encoding="utf-8"))

    def test_what_cannot_be_filled_in_has_an_answer_beside_it(self):
        for ending in ("html", "tex", "md", "txt", "xlsx", "ipynb"):
            with self.subTest(ending):
                folder = self.folder / ending
                self.assertEqual(run("exercise", "-o", folder / f"sheet.{ending}").returncode, 0)
                beside = {file.name for file in folder.iterdir()} - {f"sheet.{ending}", "problem.json", ".mha.lock"}
                self.assertEqual(beside, set() if ending in ("xlsx", "ipynb") else {"answer.json"})
                if beside:
                    result = run("check", folder / "problem.json", folder / "answer.json")
                    self.assertIn(b"nothing is filled in", result.stdout)

    def test_a_workbook_is_filled_in_as_well(self):
        result = run("exercise", "-o", self.folder / "sheet.xlsx")
        self.assertEqual(result.returncode, 0, result.stderr)
        result = run("check", self.folder / "problem.json", self.folder / "sheet.xlsx")
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"nothing is filled in", result.stdout)
        refused = run("exercise", "--roster", "x.csv", "-o", self.folder / "sheet.xlsx")
        self.assertEqual(refused.returncode, 2)


if __name__ == "__main__":
    unittest.main()
