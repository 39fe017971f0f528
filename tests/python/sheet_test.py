"""The workbook: recalculated by gnumeric, which is none of ours, it gives the trace, also after cells were changed; and what
`check` makes of one that a person hands in."""

import json
import random
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

from mha import MHA, run

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
LIVE = ["worked", "causal", "cross", "grouped", "cached", "packed", "torch", "large", "block", "gated", "stack", "bag_zh"]


def column(letters):
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


class Workbook:
    """Names and cells of an .xlsx, read without mha."""

    def __init__(self, path):
        with zipfile.ZipFile(path) as archive:
            self.parts = {name: archive.read(name) for name in archive.namelist()}
        book = ET.fromstring(self.parts["xl/workbook.xml"])
        targets = {relation.get("Id"): relation.get("Target")
                   for relation in ET.fromstring(self.parts["xl/_rels/workbook.xml.rels"])}
        self.files = {sheet.get("name"): "xl/" + targets[sheet.get(RELATION)].removeprefix("/xl/")
                      for sheet in book.find(MAIN + "sheets")}
        self.texts = [item.findtext(f".//{MAIN}t") for item in ET.fromstring(self.parts["xl/sharedStrings.xml"])]
        self.cells, self.formulas = {}, []
        for sheet, file in self.files.items():
            for cell in ET.fromstring(self.parts[file]).iter(MAIN + "c"):
                self.cells[sheet, cell.get("r")] = (cell.get("t", "n"), cell.findtext(MAIN + "v"))
                self.formulas += [f for f in [cell.find(MAIN + "f")] if f is not None]
        names = book.find(MAIN + "definedNames")
        self.names = {name.get("name"): name.text for name in ([] if names is None else names)
                      if not name.get("name").startswith("_")}

    def places(self, name):
        sheet, first, top, last, bottom = re.fullmatch(
            r"'?([^']*)'?!\$([A-Z]+)\$(\d+)(?::\$([A-Z]+)\$(\d+))?", self.names[name]).groups()
        letters = {column(key[1].rstrip("0123456789")): key[1].rstrip("0123456789") for key in self.cells}
        return [[(sheet, f"{letters[c]}{row}") for c in range(column(first), column(last or first) + 1)]
                for row in range(int(top), int(bottom or top) + 1)]

    def numbers(self, name):
        rows = [[self.cells[place] for place in row] for row in self.places(name)]
        assert all(kind == "n" for row in rows for kind, _ in row), (name, rows)  # names stand over numbers only
        return [[float(value) for _, value in row] for row in rows]

    def write_with(self, changes, path):
        """Other numbers, texts or nothing in some cells."""
        parts = dict(self.parts)
        for (sheet, place), value in changes.items():
            file = self.files[sheet]
            cell = re.compile(rf'<c r="{place}"( s="\d+")?[^>]*?(?:/>|>.*?</c>)'.encode())
            kind = "" if not isinstance(value, str) else ' t="str"'
            body = "" if value is None else f"<v>{value}</v>"
            parts[file], count = cell.subn(lambda m, k=kind, b=body, p=place: (
                f'<c r="{p}"{(m.group(1) or b"").decode()}{k}>{b}</c>').encode(), parts[file])
            assert count == 1, place
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in parts.items():
                archive.writestr(name, data)


def expected_names(trace):
    """Of a trace the matrices by the names of their cells."""
    symbols = {"Q": "Q", "K": "K", "V": "V", "scores": "S", "scaled": "Z", "masked": "M", "weights": "A", "head_output": "head",
               "concat": "Concat", "norm": "N", "residual": "R", "mlp_norm": "N", "gate": "G", "hidden": "H", "activated": "U",
               "mlp": "F", "mlp_residual": "R", "final_norm": "N"}
    found = {"X": trace["X"]}

    def add(level, before):
        for key, value in level.items():
            if key == "heads":
                for head in value:
                    for step, matrix in head.items():
                        if isinstance(matrix, list):
                            found[f"{before}{symbols[step]}{head['head']}_{step}"] = matrix
            elif key == "packed":
                for step, matrix in value.items():
                    found[f"{before}{step}_packed_{step}"] = matrix
            elif key == "layers":
                for one in value:
                    add(one, f"layer{one['layer']}.")
            elif key == "output":
                found[before + "Y"] = value
            elif isinstance(value, list) and key != "X":
                found[f"{before}{symbols[key]}_{key}"] = value

    add(trace, "")
    return found


def gradient_names(gradients):
    """The same of gradients, and of the parameters."""
    layers = gradients.get("layers", [gradients])
    found = {re.sub(r"^(layer\d+\.)?", r"\1d", name): matrix for name, matrix in
             expected_names({"X": gradients["X"]} | {k: v for k, v in gradients.items() if k not in ("parameters", "layers")} |
                            {"layers": [{k: v for k, v in layer.items() if k != "parameters"} for layer in layers]}
                            if "layers" in gradients else {k: v for k, v in gradients.items() if k != "parameters"}).items()}
    for layer in layers:
        before = f"layer{layer['layer']}." if "layers" in gradients else ""
        for key, value in layer["parameters"].items():
            if key in ("heads", "kv_heads"):
                for head, one in enumerate(value):
                    at = head * (len(layer["heads"]) // len(value)) + 1
                    found.update({f"{before}d{name}{at}": rows for name, rows in one.items()})
            elif isinstance(value, dict):
                found.update({f"{before}d{key}_{name}": rows for name, rows in value.items()})
            else:
                found[f"{before}d{key}"] = value
    return {name: rows if isinstance(rows[0], list) else [rows] for name, rows in found.items()}


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, *arguments, name="sheet.xlsx"):
        result = run("run", *arguments, "-q", "-o", self.folder / name)
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.folder / name

    def trace(self, problem):
        result = run("run", problem, "-q", "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def recalculated(self, path):
        again = self.folder / "again.xlsx"
        subprocess.run(["ssconvert", "--recalc", path, again], check=True, capture_output=True, env={"HOME": str(self.folder)})
        return again

    def assert_holds(self, book, trace):
        for name, matrix in expected_names(trace).items():
            if name not in book.names:  # shared keys and values stand at their first head
                self.assertIn("kv_heads", trace["config"])
                continue
            for row, (found, right) in enumerate(zip(book.numbers(name), matrix, strict=True)):
                for x, y in zip(found, right, strict=True):
                    y = -1e300 if y == "-inf" else y
                    self.assertLessEqual(abs(x - y), 1e-12 * max(1, abs(y)), (name, row, found, right))


class Sheets(Folder):
    def test_holds_the_trace_and_ordinary_formulas(self):
        for example in LIVE:
            with self.subTest(example):
                book = Workbook(self.write(example))
                self.assert_holds(book, self.trace(example))
                self.assertTrue(book.formulas)
                self.assertTrue(all(not formula.attrib for formula in book.formulas))  # none for arrays
                self.assertTrue(all("{" not in formula.text for formula in book.formulas))

    def test_one_book_in_both_languages(self):
        for example in ("worked", "block", "cross"):
            book = Workbook(self.write(example, "--lang", "both"))
            self.assert_holds(book, self.trace(example))
            self.assertTrue(book.formulas)
            told = "\n".join(text for text in book.texts if text)
            for language in ("en", "zh"):
                alone = Workbook(self.write(example, "--lang", language, name="one.xlsx"))
                self.assertEqual(set(alone.names), set(book.names))
                self.assertEqual(len(alone.files), len(book.files))
                for text in filter(None, alone.texts):  # a heading and its formula stand apart, a title and its name
                    for part in re.split(r"   | · ", text):
                        if " = " not in part:  # a formula stands once
                            self.assertIn(re.sub(r"^\d+  ", "", part), told)
            if example == "worked":
                self.assertEqual(list(book.files)[:2], ["Start 开始", "Head 1 of 2   头 1（共 2 个）"])
                self.assertIn("4  Scores / 注意力分数   S⁽¹⁾ = Q⁽¹⁾ · K⁽¹⁾ᵀ   3×2 · 2×3 → 3×3", book.texts)
                self.assertIn("Start 开始", Workbook(self.write(example, "--lang", "both", "--steps", "X")).files)

    def test_is_laid_out_head_by_head_in_both_languages(self):
        english, chinese = Workbook(self.write("worked")), Workbook(self.write("worked", "--lang", "zh", name="zh.xlsx"))
        self.assertEqual(list(english.files), ["Start", "Head 1 of 2", "Head 2 of 2", "All heads together"])
        self.assertEqual(list(chinese.files)[:2], ["开始", "头 1（共 2 个）"])
        self.assertIn("6  Weights   A⁽¹⁾ = softmax(Z⁽¹⁾), each row   3×3 → 3×3", english.texts)
        self.assertTrue(any("可以修改" in text for text in chinese.texts))
        self.assertIn("'Head 1 of 2'!", english.names["A1_weights"])
        self.assertLessEqual({"X", "Y", "A1_weights", "Concat_concat", "W_Q1", "W_O"}, set(english.names))
        sheet = english.parts[english.files["Head 1 of 2"]].decode()
        self.assertIn("colorScale", sheet)
        self.assertIn("/SQRT(2)", sheet)
        self.assertIn("SUMPRODUCT(", sheet)
        self.assertIn("EXP(", sheet)

    def test_names_count_from_1_and_labels_are_no_formulas(self):
        problem = json.loads(run("examples", "worked").stdout)
        problem["tokens"] = ["=1+1", "+cmd|' /C calc'!A0", "<b>&\"'"]
        (self.folder / "labels.json").write_text(json.dumps(problem), encoding="utf-8")
        book = Workbook(self.write(self.folder / "labels.json", "--index-base", "0"))
        self.assertIn("A1_weights", book.names)
        self.assertLessEqual({"=1+1", "<b>&\"'"}, set(book.texts))
        self.assertFalse(any("cmd" in (formula.text or "") for formula in book.formulas))

    def test_the_same_page_is_the_same_file(self):
        first = self.write("causal").read_bytes()
        self.assertEqual(first, self.write("causal", name="again.xlsx").read_bytes())

    def test_says_what_it_cannot_hold(self):
        large = json.loads(run("examples", "worked").stdout)
        large["X"], large["tokens"] = [[float(i % 7), 1, 0.5, i % 3] for i in range(60)], [f"t{i}" for i in range(60)]
        (self.folder / "large.json").write_text(json.dumps(large), encoding="utf-8")
        for problem, more in [("batch", []), ("rotary", []), ("worked", ["--dtype", "f32"]), (self.folder / "large.json", [])]:
            with self.subTest(problem):
                book = Workbook(self.write(problem, *more))
                self.assertFalse(book.formulas)
                self.assertTrue(any(text.startswith("Values only, no formulas") for text in book.texts))
        live = Workbook(self.write("worked"))
        self.assertFalse(any(text.startswith("Values only") for text in live.texts))

    def test_other_commands_write_their_pages(self):
        answer = self.folder / "answer.json"
        answer.write_text('{"Y": [[1, 2], [3, 4]]}', encoding="utf-8")
        for arguments in [("explain", "worked", "Y[1,1]"), ("cost", "worked"), ("compare", "worked", "--mistake", "no_scale"),
                          ("decode", "causal"), ("check", "worked", answer), ("gradient", "worked", "--loss", "sum"),
                          ("mistakes", "worked"), ("inspect", "worked")]:
            with self.subTest(arguments):
                result = run(*arguments, "-o", self.folder / "page.xlsx")
                self.assertLess(result.returncode, 2, result.stderr)
                self.assertTrue(Workbook(self.folder / "page.xlsx").cells)

    def test_the_library_is_loaded_when_it_is_needed(self):
        needed = subprocess.run(["ldd", MHA], capture_output=True, text=True, check=False).stdout
        self.assertNotIn("xlsxwriter", needed)

    @unittest.skipUnless(shutil.which("ssconvert"), "gnumeric is not here: sheets are not recalculated")
    def test_gnumeric_computes_the_same(self):
        for example in LIVE:
            with self.subTest(example):
                blank = Workbook(self.write(example))  # nothing that was stored may be what is read
                forgotten = {name: re.sub(rb"(</f>)<v>[^<]*</v>", rb"\1<v>77</v>", data) for name, data in blank.parts.items()}
                blank.parts = forgotten
                blank.write_with({}, self.folder / "forgotten.xlsx")
                self.assert_holds(Workbook(self.recalculated(self.folder / "forgotten.xlsx")), self.trace(example))

    @unittest.skipUnless(shutil.which("ssconvert"), "gnumeric is not here: sheets are not recalculated")
    def test_everything_follows_x_weights_and_masks(self):
        for example in ("worked", "causal", "grouped", "block", "gated"):
            with self.subTest(example):
                problem = json.loads(run("examples", example).stdout)
                book = Workbook(self.write(example))
                changes = {}
                for (row, col), number in {(0, 1): 0.25, (2, 0): -1.5, (2, 3): 3.0}.items():
                    problem["X"][row][col] = number
                    changes[book.places("X")[row][col]] = number
                problem["W_O" if "W_O" in problem else "W_Q"][1][1] = 0.75
                changes[book.places("W_O" if "W_O" in book.names else "W_Q")[1][1]] = 0.75
                if example == "causal":
                    (sheet, place), = [key for key, cell in book.cells.items()
                                       if cell[0] == "s" and book.texts[int(cell[1])] == "causal" and key[0] == "Head 1 of 2"]
                    letters, top = place.rstrip("0123456789"), int(place.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")) + 2
                    hidden = [(sheet, f"{letters}{top + 3}"), (sheet, f"{letters}{top + 2}")]
                    changes.update(dict.fromkeys(hidden, "−∞"))
                    problem["mask"] = [problem["mask"], {"block": [[0, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]}]
                book.write_with(changes, self.folder / "changed.xlsx")
                (self.folder / "changed.json").write_text(json.dumps(problem), encoding="utf-8")
                found, trace = Workbook(self.recalculated(self.folder / "changed.xlsx")), self.trace(self.folder / "changed.json")
                if example == "causal":  # whose two masks the sheet adds as one
                    self.assertEqual(trace["heads"][0]["weights"][3][0], 0)
                self.assert_holds(found, trace)


class Answers(Folder):
    def check(self, path, *more, problem="worked"):
        return run("check", problem, path, *more)

    def test_a_sheet_is_an_answer(self):
        for example in LIVE:
            with self.subTest(example):
                result = self.check(self.write(example), "--format", "json", problem=example)
                report = json.loads(result.stdout)["answers"][0]
                self.assertEqual((result.returncode, report["verdict"]), (0, "right"), report)

    def test_gradients_are_filled_in_as_well(self):
        sizes = ["--tokens", "3", "--d-model", "4", "--heads", "2", "--gradient", "--seed", "5"]
        for more in ([], ["--kv-heads", "1"], ["--residual", "--norm", "layer", "--mlp", "4", "--bias", "--layers", "2"]):
            with self.subTest(more):
                folder = self.folder / f"exercise{len(more)}"
                result = run("exercise", *sizes, *more, "-o", folder / "mine.xlsx")
                self.assertEqual(result.returncode, 0, result.stderr)
                book, problem = Workbook(folder / "mine.xlsx"), folder / "problem.json"
                self.assertIn("mha check problem.json mine.xlsx", book.texts)
                self.assertFalse(any(text.startswith("Values only") for text in book.texts))
                trace = json.loads(run("gradient", problem, "--round", "3", "--format", "json").stdout)
                right = expected_names(trace) | gradient_names(trace["gradients"])
                self.assertFalse(set(book.names) - set(right) - {"W_O"} - {n for n in book.names if re.search(r"\bW_|\bb_", n)})
                cells = {place: number for name, matrix in right.items() if name in book.names and name != "X"
                         for places, numbers in zip(book.places(name), matrix, strict=True)
                         for place, number in zip(places, numbers, strict=True)}
                book.write_with(cells, folder / "filled.xlsx")
                result = run("check", problem, folder / "filled.xlsx", "--require", "all", "--format", "json")
                report = json.loads(result.stdout)["answers"][0]
                self.assertEqual((report["verdict"], report["given"]), ("right", report["of"]), report)
                cells[book.places("layer1.dmlp_W_1" if "--mlp" in more else "dW_Q1")[1][0]] = 77
                book.write_with(cells, folder / "filled.xlsx")
                result = run("check", problem, folder / "filled.xlsx", "--format", "json")
                report = json.loads(result.stdout)["answers"][0]
                self.assertEqual(report["verdict"], "wrong")
                self.assertRegex(report["first_wrong"]["step"], "W_1" if "--mlp" in more else "dW_Q")

    def test_changed_blank_and_faulty_cells(self):
        book = Workbook(self.write("causal"))
        place = book.places("A1_weights")[2][1]
        filled = self.folder / "filled.xlsx"
        for value, code, said in [(0.9, 1, b"wrong"), (None, 1, b"Incomplete"), ("", 1, b"Incomplete"),
                                  ("#VALUE!", 1, b'"Head 1 of 2", '), ("about a half", 1, b"about a half"),
                                  ("?", 1, b"Incomplete")]:
            with self.subTest(value):
                book.write_with({place: value}, filled)
                result = self.check(filled, problem="causal")
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertIn(said, result.stdout + result.stderr)
        book.write_with({book.places("X")[0][0]: " -1.0", book.places("M1_masked")[0][1]: "-inf", book.places("M1_masked")[0][2]: "−Infinity"}, filled)
        result = self.check(filled, problem="causal")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_formulas_that_nobody_computed(self):
        """As libraries save a workbook: the formulas without their values."""
        book = Workbook(self.write("worked"))
        for value in (b"", b"<v></v>", b"<v/>"):
            for name in book.files.values():
                book.parts[name] = re.sub(rb"(</f>|<f[^>]*/>)(<v>[^<]*</v>|<v/>|<v></v>)?", rb"\1" + value, book.parts[name])
            book.write_with({}, self.folder / "uncomputed.xlsx")
            report = self.check(self.folder / "uncomputed.xlsx", "--format", "json")
            answer = json.loads(report.stdout)["answers"][0]
            self.assertEqual((report.returncode, answer["verdict"]), (1, "incomplete"), report.stderr)
            self.assertIn("never computed", answer["message"])
            self.assertEqual(answer["message"].count("spreadsheet program"), 1)

    @unittest.skipUnless(shutil.which("ssconvert"), "gnumeric is not here")
    def test_what_gnumeric_saved(self):
        result = self.check(self.recalculated(self.write("worked")))
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_without_names(self):
        book = Workbook(self.write("worked"))
        book.parts["xl/workbook.xml"] = re.sub(rb"<definedNames>.*</definedNames>", b"", book.parts["xl/workbook.xml"])
        book.write_with({}, self.folder / "nameless.xlsx")
        result = self.check(self.folder / "nameless.xlsx")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"none of its cells are named", result.stderr)

    def test_names_that_stand_for_no_matrix(self):
        book = Workbook(self.write("worked"))
        for range_, said in [("#REF!", b"stands for"), ("'Head 1 of 2'!$A$1:$XFD$1048576", b"stands for"),
                             ("'Head 1 of 2'!$C$3:$B$2", b"stands for"), ("Nowhere!$A$1:$B$2", b"not there")]:
            with self.subTest(range_):
                book.parts["xl/workbook.xml"] = (
                    '<workbook xmlns="x"><sheets><sheet name="Head 1 of 2" sheetId="1" r:id="rId2"/></sheets><definedNames>'
                    f'<definedName name="A1_weights">{range_}</definedName></definedNames></workbook>').encode()
                book.write_with({}, self.folder / "odd.xlsx")
                result = self.check(self.folder / "odd.xlsx")
                self.assertEqual(result.returncode, 2)
                self.assertIn(said, result.stderr)

    def test_a_name_that_stands_twice(self):
        book = Workbook(self.write("worked"))
        names = book.parts["xl/workbook.xml"]
        first = re.search(rb"<definedName name=.A1_weights.*?</definedName>", names)[0]
        other = re.sub(rb"\$\w+\$\d+:\$\w+\$\d+", b"$A$1:$A$1", first)
        book.parts["xl/workbook.xml"] = names.replace(first, first + other)
        book.write_with({}, self.folder / "twice.xlsx")
        result = self.check(self.folder / "twice.xlsx")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"A1_weights is given twice", result.stderr)
        copied = other.replace(b"<definedName ", b'<definedName localSheetId="0" ')  # as a copied sheet brings it along
        for both in (copied + first, first + copied):
            book.parts["xl/workbook.xml"] = names.replace(first, both)
            book.write_with({}, self.folder / "copied.xlsx")
            self.assertEqual(self.check(self.folder / "copied.xlsx").returncode, 0)

    def test_what_is_cut_off_is_no_sheet(self):
        whole = Workbook(self.write("worked"))
        for name in [*whole.files.values(), "xl/workbook.xml", "xl/sharedStrings.xml", "xl/_rels/workbook.xml.rels"]:
            for damaged in (whole.parts[name][:-20], whole.parts[name].decode().encode("utf-16")):
                book = Workbook(self.folder / "sheet.xlsx")
                book.parts[name] = damaged
                book.write_with({}, self.folder / "cut.xlsx")
                result = self.check(self.folder / "cut.xlsx")
                self.assertEqual((result.returncode, result.stderr.count(b"is cut off")), (2, 1), name)

    def test_cells_that_hold_no_number(self):
        book = Workbook(self.write("worked"))
        place = book.places("Y")[0][0]
        file = book.files[place[0]]
        cell = re.search(rb'<c r="%s"[^>]*>' % place[1].encode(), book.parts[file])[0]
        for kind, value in ((b's', b"99999"), (b'n', b"NaN"), (b'b', b"1"), (b'e', b"#DIV/0!")):
            other = Workbook(self.folder / "sheet.xlsx")
            other.parts[file] = re.sub(re.escape(cell) + rb".*?</c>", b'<c r="%s" t="%s"><v>%s</v></c>' %
                                       (place[1].encode(), kind, value), other.parts[file])
            other.write_with({}, self.folder / "odd.xlsx")
            result = self.check(self.folder / "odd.xlsx")
            self.assertEqual(result.returncode, 1, (kind, value))
            self.assertIn(b'"%s" is no number' % value, b" ".join(result.stdout.split()))

    def test_a_part_that_unpacks_to_too_much(self):
        book = Workbook(self.write("worked"))
        book.parts["xl/sharedStrings.xml"] = b"<sst>" + b" " * (100 << 20) + b"</sst>"
        book.write_with({}, self.folder / "bomb.xlsx")
        result = self.check(self.folder / "bomb.xlsx")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"holds more than", result.stderr)

    def test_no_bytes_bring_it_down(self):
        data = self.write("worked", "--lang", "zh").read_bytes()
        book = Workbook(self.folder / "sheet.xlsx")
        chance = random.Random(5)
        path = self.folder / "torn.xlsx"
        for turn in range(150):
            if turn % 2:  # the archive's bytes, or the XML in a sound archive
                torn = bytearray(data[:chance.randrange(len(data))] if turn % 3 else data)
                for _ in range(chance.randrange(1, 9)):
                    if torn:
                        torn[chance.randrange(len(torn))] = chance.randrange(256)
                path.write_bytes(torn)
            else:
                parts = dict(book.parts)
                name = chance.choice([n for n in parts if n.startswith("xl/w") or "rels" in n or "Strings" in n])
                text = bytearray(parts[name])
                for _ in range(chance.randrange(1, 30)):
                    text[chance.randrange(len(text))] = chance.choice(b"<>/\"'&;=: \x000A$!")
                book.parts[name] = bytes(text)
                book.write_with({}, path)
                book.parts = parts
            self.assertIn(self.check(path).returncode, (0, 1, 2), turn)


if __name__ == "__main__":
    unittest.main()
