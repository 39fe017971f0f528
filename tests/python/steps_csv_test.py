"""Steps in a spreadsheet: what `run` and `decode` write, and `check` reading what a person made of it."""

import csv
import io
import json
import shutil
import tempfile
import unittest
from pathlib import Path

import numpy as np

from mha import run

HEADER = ["layer", "head", "item", "step", "row", "column", "row_label", "column_label", "value"]


def table(text):
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == HEADER, rows[0]
    return [dict(zip(HEADER, row, strict=True)) for row in rows[1:]]


def matrices(rows):
    """By (layer, head, item, step) the entries in the order of their lines."""
    found = {}
    for row in rows:
        key = tuple(int(row[name]) if row[name] else None for name in ("layer", "head", "item")) + (row["step"],)
        found.setdefault(key, {})[int(row["row"]), int(row["column"])] = float(row["value"])
    return found


def expected(trace):
    """The same of a trace."""
    found = {}

    def add(layer, head, step, value):
        value = [[[float(x) for x in row] for row in matrix] for matrix in (value if isinstance(value[0][0], list) else [value])]
        for item, matrix in enumerate(value):
            found[layer, head, item + 1 if trace["config"]["batch"] else None, step] = {
                (i + 1, j + 1): number for i, row in enumerate(matrix) for j, number in enumerate(row)}

    def add_level(level, layer):
        for key, value in level.items():
            if key == "heads":
                for head in value:
                    for step, matrix in head.items():
                        if isinstance(matrix, list):
                            add(layer, head["head"], step, matrix)
            elif key == "packed":
                for step, matrix in value.items():
                    add(layer, None, "packed." + step, matrix)
            elif key == "layers":
                for one in value:
                    add_level(one, one["layer"])
            elif isinstance(value, list):
                add(layer, None, key, value)

    add_level(trace, None)
    return found


class StepsCsv(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="mha-csv-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def text(self, *arguments):
        result = run(*arguments, "--format", "csv")
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return result.stdout.decode()

    def check(self, text, code, *arguments, name="steps.csv"):
        (self.folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
        result = run("check", *arguments, self.folder / name, "--format", "json")
        self.assertEqual(result.returncode, code, result.stdout.decode() + result.stderr.decode())
        return json.loads(result.stdout)["answers"][0]

    def test_every_entry_is_that_of_the_trace(self):
        for example in ("worked", "causal", "packed", "rotary", "grouped", "batch", "block", "stack", "cross"):
            for dtype in ("f64", "f32"):
                trace = json.loads(run("run", example, "--dtype", dtype, "--format", "json").stdout)
                self.assertEqual(matrices(table(self.text("run", example, "--dtype", dtype))), expected(trace), example)

    def test_values_are_the_shortest(self):
        rows = table(self.text("run", "worked", "--steps", "weights", "--dtype", "f32"))
        for row in rows:
            self.assertEqual(row["value"], str(np.float32(row["value"])))

    def test_labels(self):
        rows = table(self.text("run", "causal", "--steps", "masked,V", "--heads", "1", "--lang", "zh"))
        first = {(row["step"], row["row_label"], row["column_label"]): row["value"] for row in rows}
        self.assertEqual(first["masked", "cat", "down"], "-inf")
        self.assertIn(("V", "sat", ""), first)
        problem = json.loads(run("examples", "worked").stdout)
        problem["tokens"] = ["=HYPERLINK(\"x\")", "a,b;\"c\"", "+1"]
        (self.folder / "p.json").write_text(json.dumps(problem))
        labels = [row["row_label"] for row in table(self.text("run", self.folder / "p.json", "--steps", "output"))]
        self.assertEqual(labels[::4], ["'=HYPERLINK(\"x\")", "a,b;\"c\"", "'+1"])

    def test_decoding_gives_the_rows_of_the_run(self):
        whole = expected(json.loads(run("run", "causal", "--format", "json").stdout))
        for (layer, head, item, step), entries in matrices(table(self.text("decode", "causal"))).items():
            for place, number in entries.items():
                self.assertEqual(whole[layer, head, item, step][place], number, (step, place))
        self.assertEqual(len(matrices(table(self.text("decode", "causal", "--heads", "1")))[None, 1, None, "weights"]), 10)

    def test_what_run_writes_is_right(self):
        for example in ("worked", "causal", "stack", "batch", "packed"):
            answer = self.check(self.text("run", example), 0, example)
            self.assertEqual((answer["verdict"], answer["given"]), ("right", answer["of"]), example)

    def test_as_spreadsheets_save_it(self):
        rows = table(self.text("run", "causal"))
        for separator, bom, ending in ((";", "\ufeff", "\r\n"), ("\t", "", "\n"), (";", "", "\n")):
            lines = [separator.join(HEADER)]
            for row in rows:
                value = "#NAME?" if row["value"] == "-inf" else f"{float(row['value']):.3f}".replace(".", ",")
                lines.append(separator.join([*list(row.values())[:-1], value]))
            answer = self.check(bom + ending.join(lines) + ending, 0, "causal")
            self.assertEqual(answer["verdict"], "right")

    def test_blanks_are_not_filled_in(self):
        lines = self.text("run", "worked", "--steps", "Q,weights").splitlines()
        blank = [line.rpartition(",")[0] + "," if ",weights,1,2," in line else line for line in lines]
        answer = self.check("\n".join(blank), 1, "worked")
        self.assertEqual(answer["verdict"], "incomplete")
        gone = [line for line in lines if ",weights,2,2," not in line]
        self.assertEqual(self.check("\n".join(gone), 1, "worked")["verdict"], "incomplete")
        nothing = [line if ",weights," not in line else line.rpartition(",")[0] + "," for line in lines]
        self.assertEqual(self.check("\n".join(nothing), 0, "worked")["given"], 2)

    def test_a_mistake_is_named(self):
        rows = self.text("run", "worked", "--steps", "Q-scores")
        scaled = [line.replace(",scores,", ",scaled,") for line in rows.splitlines() if ",scores," in line]
        answer = self.check(rows + "\n".join(scaled), 1, "worked")
        self.assertEqual((answer["verdict"], answer["first_wrong"]["step"]), ("wrong", "scaled"))
        self.assertIn("no_scale", json.dumps(answer["mistakes"]))

    def test_what_cannot_be_read_is_told_with_its_line(self):
        head = ",".join(HEADER) + "\n"
        for text, words in (("a,b\n1,2\n", b"no column \"step\""),
                            (head + ",,,output,0,1,,,1\n", b"found \"0\" as row"), ("", b"no column"),
                            (head + ",,,output,1,1,,,1\n,,,output,1,1,,,2\n", b":3: this entry is given twice"),
                            (head + ",,,output,9999999,9999999,,,1\n", b"far from all other"), (head, b"no matrix"),
                            (head + ",,,output,1,99999999999999999999,,,1\n", b"as column"), (head + '"', b"no matrix"),
                            (head + ",,9999999,output,9,9,,,1\n", b"far from all other")):
            (self.folder / "steps.csv").write_text(text)
            result = run("check", "worked", self.folder / "steps.csv")
            self.assertEqual(result.returncode, 2, text)
            self.assertIn(words, result.stderr, text)

    def test_what_is_no_number_is_a_blank_that_is_told_with_its_line(self):
        lines = self.text("run", "worked").splitlines()
        lines[-1] = lines[-1].rsplit(",", 1)[0] + ",abc"
        answer = self.check("\n".join(lines), 1, "worked")
        self.assertEqual((answer["verdict"], answer["given"]), ("incomplete", answer["of"]))
        self.assertIn(f':{len(lines)}: the text "abc" is no number', answer["message"])

    def test_in_a_class_it_is_the_answer(self):
        student = self.folder / "class" / "ada"
        student.mkdir(parents=True)
        (student / "problem.json").write_bytes(run("examples", "worked").stdout)
        (student / "steps.csv").write_text(self.text("run", "worked"))
        report = json.loads(run("check", self.folder / "class", "--format", "json").stdout)
        self.assertEqual([answer["verdict"] for answer in report["answers"]], ["right"])

    def test_the_report_of_check_stays(self):
        (self.folder / "answer.json").write_bytes(run("run", "worked", "--format", "json").stdout)
        run("check", "worked", self.folder / "answer.json", "-o", self.folder / "report.csv")
        self.assertTrue((self.folder / "report.csv").read_text().startswith("name,verdict,score"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
