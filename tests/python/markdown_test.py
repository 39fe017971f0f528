"""Pages as Markdown: what CommonMark makes of them, and formulas whose numbers are those of the trace."""

import json
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from mha import run

try:
    from markdown_it import MarkdownIt
except ImportError:
    MarkdownIt = None


def formulas(text):
    """The $$ blocks; what stands between other blocks of two dollars is left."""
    return re.findall(r"^\$\$\n(.*?)\n\$\$$", text, re.M | re.S)


def environments(formula):
    """By name, the contents of those that hold no other; an AssertionError where they do not close in order."""
    open_ones, found = [], []
    for match in re.finditer(r"\\(begin|end)\{(\w+)\}", formula):
        if match[1] == "begin":
            open_ones.append((match[2], match.end()))
        else:
            name, start = open_ones.pop()
            assert name == match[2], formula
            found.append((name, formula[start:match.start()]))
    assert not open_ones and formula.count("{") == formula.count("}"), formula
    return found


def matrix(content):
    return [[cell.strip() for cell in row.split("&")] for row in content.split(r"\\")]


class Markdown(unittest.TestCase):
    def page(self, *arguments, code=0):
        result = run(*arguments, "--format", "markdown")
        self.assertEqual(result.returncode, code, result.stderr.decode())
        return result.stdout.decode()

    def rendered(self, text):
        if MarkdownIt is None:
            self.skipTest("needs python3-markdown-it")
        return MarkdownIt("commonmark").enable("table").render(text)

    def test_matrices_are_those_of_the_trace(self):
        for example in ("worked", "causal", "block", "packed", "rotary", "cross"):
            trace = json.loads(run("run", example, "--format", "json").stdout)
            text = self.page("run", example, "--precision", "6")
            for head in trace["heads"]:
                for step, expected in head.items():
                    if not isinstance(expected, list):
                        continue
                    numbers = [[float(entry) for entry in row] for row in expected]
                    def same(content):
                        rows = [[re.sub(r"\\mathbf\{(.*)\}", r"\1", cell).replace(r"\infty", "inf") for cell in row]
                                for row in matrix(content)]
                        return ([len(row) for row in rows] == [len(row) for row in numbers] and
                                all(shown == "-inf" if number == float("-inf") else
                                    abs(float(shown) - number) <= 5.1e-7
                                    for line, row in zip(rows, numbers) for shown, number in zip(line, row)))
                    found = [content for formula in formulas(text) for name, content in environments(formula)
                             if name == "bmatrix" and "\\cdots" not in content]
                    self.assertTrue(any(same(content) for content in found), (example, step))

    def test_each_formula_reaches_its_reader_whole(self):
        """For CommonMark a formula is a paragraph: no list, heading, rule or element begins within it."""
        for example in ("worked", "causal", "block", "rotary", "large", "bag_zh"):
            for language in ("en", "zh"):
                text = self.page("run", example, "--lang", language)
                html = self.rendered(text)
                self.assertEqual(len(re.findall(r"<p>\$\$\n.*?\n\$\$</p>", html, re.S)), len(formulas(text)))
                for element in ("<ul>", "<ol>", "<em>", "<hr", "<blockquote>", "<h6>", "<pre>"):
                    self.assertNotIn(element, html)
                self.assertIn("<h1>", html)
                for formula in formulas(text):
                    environments(formula)

    def test_labels_mean_nothing(self):
        problem = json.loads(run("examples", "worked").stdout)
        problem["tokens"] = ["$$ <b>x</b>", "\\end{bmatrix} & _a_", "|`*[x](y)"]
        problem["title"] = "# <script> | `x` *y*"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "p.json"
            path.write_text(json.dumps(problem))
            text = self.page("run", path)
        self.assertIn("＄＄ ＜b＞x＜/b＞", text)
        self.assertIn("＼end｛bmatrix｝ ＆ ＿a＿", text)
        html = self.rendered(text)
        for element in ("<b>", "<script>", "<em>", "<a ", "<code>"):
            self.assertNotIn(element, html)
        self.assertEqual(text.count("$$"), 2 * len(formulas(text)))
        for formula in formulas(text):
            environments(formula)

    def test_columns_have_their_labels_where_the_text_page_has_them(self):
        for example, labels in (("worked", ["token1", "token2", "token3"]), ("causal", ["The", "cat", "sat", "down"])):
            found = re.findall(r"\\overset\{(.*?)\}\{\\begin\{bmatrix\}\n(.*?)\n\\end\{bmatrix\}\}",
                               self.page("run", example, "--steps", "weights", "--heads", "1"), re.S)
            self.assertEqual([re.findall(r"\\text\{(.*?)\}", list) for list, _ in found], [labels] * len(found))
            self.assertTrue(any(len(matrix(content)) == len(labels) for _, content in found))
        text = self.page("run", "worked", "--steps", "Q")
        self.assertNotIn("overset", text)

    def test_tables(self):
        html = self.rendered(self.page("mistakes", "worked"))
        self.assertIn("<td>no_scale</td>", html)
        self.assertEqual(html.count("<table>"), html.count("</table>"))

    def test_boxes_of_text_instead(self):
        text = self.page("run", "worked", "--math", "none")
        self.assertNotIn("$$", text)
        self.assertIn("token1 ⎡ 1  0  1  2 ⎤", text)
        self.assertEqual(run("run", "worked", "--math", "mathml").returncode, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
