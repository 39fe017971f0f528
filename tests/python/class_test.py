"""A class graded from the sheets to the table of grades: every verdict, the score, and numbers that add up in every format."""

import copy
import csv
import io
import json
import os
import re
import shutil
import unicodedata
import unittest
import zipfile
from pathlib import Path

import numpy
from check_test import WORKED, InFolder, unscaled
from mha import run

VERDICTS = ["right", "incomplete", "wrong", "missing", "unusable"]
CODES = dict(zip(VERDICTS, (0, 1, 1, 1, 2)))


def arrays(trace):
    """As `run` names them, in float32."""
    steps = {f"heads.{head['head']}.{name}": matrix for head in trace["heads"] for name, matrix in head.items()
             if not isinstance(matrix, int)} | {"concat": trace["concat"], "output": trace["output"]}
    return {name: numpy.array(matrix, dtype=float).astype(numpy.float32) for name, matrix in steps.items()}


class Class(InFolder):
    """Seven students with problems of their own, each with another fate."""

    NAMES = {"Anna Li": "right", "=1+1": "right", "张三": "wrong", "Bo, Jr.": "incomplete", "Cy": "missing", "Di": "unusable",
             "Eve": "right"}

    def setUp(self):
        super().setUp()
        lines = "".join(f'{i};"{name}";{i}@x\n' for i, name in enumerate(self.NAMES))
        roster = self.write("names.csv", "id;name;email\n" + lines)
        self.course = self.folder / "class"
        self.assertEqual(run("exercise", "--tokens", "5", "--mask", "causal", "--roster", roster, "-o", self.course).returncode, 0)
        with open(self.course / "teacher" / "index.csv", encoding="utf-8", newline="") as file:
            self.places = {row["name"].lstrip("'"): row["folder"] for row in csv.DictReader(file)}
        self.assertEqual(list(self.places), list(self.NAMES))
        self.keys = {name: json.loads((self.course / "teacher" / place / "key.json").read_text())
                     for name, place in self.places.items()}
        for name in ("Anna Li", "=1+1", "张三", "Bo, Jr."):
            answer = {part: copy.deepcopy(self.keys[name][part]) for part in ("heads", "concat", "output")}
            if name == "张三":
                made = json.loads((self.course / "teacher" / self.places[name] / "mistakes.json").read_text())["mistakes"]
                wrong = next(mistake for mistake in made if mistake["id"] == "no_scale")
                for head, other in zip(answer["heads"], wrong["heads"]):
                    head.update(other)
                answer.update(concat=wrong["concat"], output=wrong["output"])
            if name == "Bo, Jr.":
                del answer["output"]
            self.place(name).write_text(json.dumps(answer))
        self.place("Cy").unlink()
        self.place("Di").write_text('{"heads": [')
        numpy.savez(self.place("Eve").with_suffix(".npz"), **arrays(self.keys["Eve"]))  # beside the blank template

    def place(self, name):
        return self.course / self.places[name] / "answer.json"

    def graded(self, *arguments):
        result = run("check", self.course, *arguments, "--format", "json")
        self.assertEqual(result.returncode, 2, result.stderr.decode())
        return json.loads(result.stdout)

    def test_each_against_its_own_problem(self):
        report = self.graded()
        answers = {answer["name"]: answer for answer in report["answers"]}
        self.assertEqual({name: answer["verdict"] for name, answer in answers.items()}, self.NAMES)
        self.assertEqual(list(answers), list(self.NAMES))  # in the order of the roster
        self.assertEqual({answer["of"] for answer in answers.values()}, {26})
        self.assertEqual({name: (answer["score"], answer["given"]) for name, answer in answers.items()},
                         {"Anna Li": (1, 26), "=1+1": (1, 26), "张三": (0.9, 26), "Bo, Jr.": (0.9, 25), "Cy": (0, 0),
                          "Di": (0, 0), "Eve": (1, 26)})
        self.assertEqual(report["summary"], {"right": 3, "incomplete": 1, "wrong": 1, "missing": 1, "unusable": 1,
                                             "steps": [{"step": "scaled", "first_wrong": 1}],
                                             "mistakes": [{"id": "no_scale", "count": 1}]})
        self.assertIn("not given: Output projection", answers["Bo, Jr."]["message"])
        self.assertTrue(answers["Eve"]["file"].endswith("answer.npz"))

    def test_every_format_tells_the_same(self):
        summary = self.graded()["summary"]
        self.assertEqual(self.graded("--summary"), {"summary": summary})
        table = run("check", self.course, "--format", "csv").stdout.decode()
        rows = list(csv.DictReader(io.StringIO(table, newline="")))
        for verdict in VERDICTS:
            self.assertEqual(sum(row["verdict"] == verdict for row in rows), summary[verdict])
        self.assertIn("'=1+1", [row["name"] for row in rows])
        counts = list(csv.reader(io.StringIO(run("check", self.course, "--format", "csv", "--summary").stdout.decode())))
        self.assertEqual(counts, [["what", "name", "count"], *(["verdict", verdict, str(summary[verdict])] for verdict in VERDICTS),
                                  ["first_wrong", "scaled", "1"], ["mistake", "no_scale", "1"]])
        for language, words in (("en", "3 right · 1 incomplete · 1 wrong · 1 missing · 1 unusable"),
                                ("zh", "3 份正确 · 1 份未完成 · 1 份错误 · 1 份未提交 · 1 份无法评阅")):
            page = run("check", self.course, "--lang", language).stdout.decode()
            alone = run("check", self.course, "--lang", language, "--summary").stdout.decode()
            self.assertIn(words, alone)
            self.assertTrue(page.startswith(alone))
            self.assertNotIn("Anna", alone)
            for name in self.NAMES:
                self.assertIn(name, page)

    def test_the_page_leads_to_each_student_and_keeps_the_mistake_until_asked(self):
        path = self.folder / "report.html"
        for language, hint in (("en", "Hint"), ("zh", "提示")):
            with self.subTest(language):
                self.assertLess(run("check", self.course, "--lang", language, "-o", path).returncode, 3)
                page = path.read_text(encoding="utf-8")
                links = {name: place for place, name in re.findall(r'<td><a href="#(s\d+)"><bdi>([^<]*)</bdi></a></td>', page)}
                self.assertEqual(list(links), list(self.NAMES))  # who is right or has nothing to show as well
                self.assertEqual(len(set(links.values())), len(links))
                answers = {answer["name"]: answer for answer in self.graded("--lang", language)["answers"]}
                for name, place in links.items():
                    section = re.search(rf'<section id="{place}"><h2><bdi>{re.escape(name)}</bdi></h2>(.*?)</section>', page, re.S)[1]
                    self.assertIn({"en": {"right": "Right: ", "wrong": "Wrong: ", "incomplete": "Incomplete: ",
                                          "missing": "Missing: ", "unusable": "Unusable: "},
                                   "zh": {"right": "正确：", "wrong": "错误：", "incomplete": "未完成：", "missing": "未提交：",
                                          "unusable": "无法评阅："}}[language][self.NAMES[name]], section)
                    given, score = answers[name]["given"], round(100 * answers[name]["score"])
                    if given:
                        self.assertIn({"en": f"{given} of 26 matrices given, score {score} %",
                                       "zh": f"给出 26 个矩阵中的 {given} 个，得分 {score}%"}[language], section)
                top = page[:page.index("<main>")]
                self.assertNotIn("<bdi>", top)  # neither a contents of 120 names nor what is the first student's
                self.assertNotIn("26", re.sub(r"<(style|script)>.*?</\1>", "", top, flags=re.S))
                report = json.loads(run("check", self.course, "--format", "json").stdout)
                bars = re.findall(r'<td class="number">(\d+) <meter max="(\d+)" value="(\d+)"', page)
                self.assertEqual([int(count) for count, of, value in bars if count == value and of == str(len(self.NAMES))],
                                 [step["first_wrong"] for step in report["summary"]["steps"]]
                                 + [mistake["count"] for mistake in report["summary"]["mistakes"]])
                unfolded = re.sub(r"<details><summary>.*?</details>", "", page)
                self.assertIn(f"<summary>{hint}</summary><p class=\"warning\">", page)
                self.assertNotIn('<p class="warning">', unfolded)

    def test_what_is_no_answer_is_told_and_not_graded(self):
        before = self.graded()
        roster = (self.folder / "names.csv").read_text(encoding="utf-8")
        anna = self.place("Anna Li").parent
        for place in (self.course / "names.csv", self.course / "index.csv", anna / "notes.csv", anna / "old.xls"):
            place.write_text(roster, encoding="utf-8")
        (self.course / "loose").mkdir()
        result = run("check", self.course, "--format", "json")
        self.assertEqual(json.loads(result.stdout), before)
        line = next(line for line in result.stderr.decode().splitlines() if "passed over" in line)
        for name in ("notes.csv", "old.xls", "loose"):
            self.assertIn(name, line)
        self.assertNotIn("index.csv", line)
        self.assertNotIn("teacher", line)
        self.assertIn("passed over, 4 in all: ", line)

    def test_a_table_of_steps_is_an_answer_whatever_it_is_called(self):
        eve = self.place("Eve").parent
        (eve / "answer.npz").unlink()
        self.assertEqual(run("run", eve / "problem.json", "-o", eve / "mine.csv").returncode, 0)
        self.assertEqual(self.graded_as("Eve"), ("right", "mine.csv"))
        with zipfile.ZipFile(eve / "other.xlsx", "w") as book:  # a workbook without named cells stands back
            book.writestr("xl/workbook.xml", '<workbook><sheets><sheet name="A"/></sheets></workbook>')
        self.assertEqual(self.graded_as("Eve"), ("right", "mine.csv"))
        self.assertIn(b"other.xlsx", run("check", eve).stderr)
        self.assertEqual(run("run", eve / "problem.json", "-o", eve / "other.xlsx").returncode, 0)  # with them it may be meant
        self.assertEqual(self.graded_as("Eve")[0], "unusable")
        (eve / "mine.csv").unlink()
        (self.folder / "all").mkdir()
        (eve / "other.xlsx").rename(self.folder / "all" / "Eve.xlsx")
        shutil.copy(self.folder / "names.csv", self.folder / "all")
        with zipfile.ZipFile(self.folder / "all" / "roster.xlsx", "w") as book:
            book.writestr("xl/workbook.xml", '<workbook><sheets><sheet name="A"/></sheets></workbook>')
        result = run("check", self.course, self.folder / "all", "--format", "json")
        answers = {answer["name"]: answer["file"] for answer in json.loads(result.stdout)["answers"]}
        self.assertEqual(list(answers), list(self.NAMES))
        self.assertEqual({name for name, file in answers.items() if file}, {"Eve"})
        self.assertIn("passed over, 2 in all: ", result.stderr.decode())
        for language, words in (("en", "no answers in this folder"), ("zh", "这个文件夹里没有答卷")):
            (self.folder / language).mkdir()
            shutil.copy(self.folder / "names.csv", self.folder / language)
            result = run("check", "worked", self.folder / language, "--lang", language)
            self.assertEqual(result.returncode, 2)
            for word in (words, ".csv", ".xlsx", ".npz"):
                self.assertIn(word, result.stderr.decode())

    def test_a_broken_problem_harms_nobody_else(self):
        (self.place("Anna Li").parent / "problem.json").write_text("{")
        self.assertEqual({answer["name"]: answer["verdict"] for answer in self.graded()["answers"]},
                         self.NAMES | {"Anna Li": "unusable"})

    def test_a_folder_that_is_gone_is_a_student_who_is_missing(self):
        shutil.rmtree(self.place("Anna Li").parent)
        (self.place("Eve").parent / "problem.json").unlink()
        answers = {answer["name"]: answer for answer in self.graded()["answers"]}
        self.assertEqual({name: answer["verdict"] for name, answer in answers.items()},
                         self.NAMES | {"Anna Li": "missing", "Eve": "unusable"})
        self.assertIn("no answer was handed in", answers["Anna Li"]["message"])
        self.assertIn("problem.json: there is no such file", answers["Eve"]["message"])

    def test_the_message_is_made_of_whole_sentences(self):
        message = {answer["name"]: answer["message"] for answer in self.graded()["answers"]}["张三"]
        self.assertTrue(message.startswith("Wrong: the first wrong step is Scaled scores Z⁽¹⁾. The scores were not"), message)

    def test_answers_collected_elsewhere_find_their_student(self):
        for i, name in enumerate(self.NAMES):
            file = "lianna_LATE_7_8_answer.json" if name == "Anna Li" else f"{name}_{i}_assignsubmission_file_answer.json"
            if name not in ("Cy", "=1+1"):
                self.write(f"all/{file}", self.keys[name])
        self.write("all/nobody.json", self.keys["Cy"])
        result = run("check", self.course, self.folder / "all", "--format", "json")
        self.assertEqual(result.returncode, 2)
        answers = json.loads(result.stdout)["answers"]
        verdicts = {answer["name"]: answer["verdict"] for answer in answers}
        self.assertEqual(verdicts, {name: "missing" if name in ("Cy", "=1+1") else "right" for name in self.NAMES}
                         | {"nobody": "unusable"})

    def test_names_in_lines_and_names_of_the_same_letters(self):
        lines = [{"name": name, **self.keys.get(name, WORKED)} for name in ("Anna Li", "张三", "Nobody")]
        path = self.write("all.jsonl", "".join(json.dumps(line) + "\n" for line in lines) + "{\n")
        answers = json.loads(run("check", self.course, path, "--format", "json").stdout)["answers"]
        verdicts = {answer["name"]: answer["verdict"] for answer in answers}
        self.assertEqual([verdicts[name] for name in ("Anna Li", "张三", "Eve", "Nobody")],
                         ["right", "right", "missing", "unusable"])
        self.assertIn("all.jsonl:4:", answers[-1]["message"])
        roster = self.write("two.csv", "Li Wei\nWei Li\n")
        self.assertEqual(run("exercise", "--roster", roster, "-o", self.folder / "two").returncode, 0)
        key = json.loads((self.folder / "two" / "teacher" / "Wei Li" / "key.json").read_text())
        self.write("one/liwei_1_2_answer.json", key)  # whose?
        self.write("other/Wei Li_1_assignsubmission_file_answer.json", key)
        for folder, counts in (("one", [0, 2, 1]), ("other", [1, 1, 0])):
            result = run("check", self.folder / "two", self.folder / folder, "--format", "json", "--summary")
            summary = json.loads(result.stdout)["summary"]
            self.assertEqual([summary[verdict] for verdict in ("right", "missing", "unusable")], counts)

    def test_an_example_is_not_the_folder_of_its_name(self):
        (self.folder / "worked").mkdir()
        self.write("answer.json", WORKED)
        self.assertEqual(run("check", "worked", "answer.json", cwd=self.folder).returncode, 0)
        self.assertEqual(run("check", "./worked", "answer.json", cwd=self.folder).returncode, 2)

    def test_a_folder_alone_and_one_that_is_no_class(self):
        result = run("check", ".", cwd=self.place("Anna Li").parent)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertEqual(run("check", self.place("Cy").parent).returncode, 1)
        message = run("check", self.course / "teacher")
        self.assertEqual(message.returncode, 2)
        self.assertIn("no problem.json", message.stderr.decode())

    def test_two_answers_in_one_folder(self):
        (self.place("Anna Li").with_suffix(".npz")).write_bytes(self.place("Eve").with_suffix(".npz").read_bytes())
        answers = {answer["name"]: answer for answer in self.graded()["answers"]}
        self.assertEqual(answers["Anna Li"]["verdict"], "unusable")
        self.assertIn("which of these", answers["Anna Li"]["message"])

    def test_only_what_is_required(self):
        """--require says less than all of everyone's own problem."""
        for name in self.NAMES:
            self.place(name).write_text(json.dumps({"Y": self.keys[name]["output"]}))
        self.place("Eve").with_suffix(".npz").unlink()
        for more, verdict in (((), "incomplete"), (("--require", "output"), "right"), (("--require", "Q,Y"), "incomplete")):
            result = run("check", self.course, "--points", "all=0,output=1", *more, "--format", "json")
            report = json.loads(result.stdout)
            self.assertEqual({answer["verdict"] for answer in report["answers"]}, {verdict}, more)
            self.assertEqual(result.returncode, CODES[verdict])
            self.assertEqual({answer["score"] for answer in report["answers"]}, {1})

    def test_steps_that_no_problem_has_are_refused(self):
        for option, text in (("--require", "mlp"), ("--require", "output,packed"), ("--points", "all=0,mlp=3"), ("--points", "masked=0,layer2.Q=1"),
                             ("--points", "all=0"), ("--points", "output=1e308,weights=1e308")):
            for given in ([self.course], [self.place("Anna Li").parent / "problem.json", self.place("Anna Li")]):
                result = run("check", *given, option, text)
                self.assertEqual((result.returncode, result.stdout), (2, b""), (text, given))
                self.assertIn(f"mha: {option} '{text}': ", result.stderr.decode())
        self.assertTrue(run("check", self.course, "--require", "masked", "--points", "masked=2").stdout)
        mlp = self.folder / "one"
        self.assertEqual(run("exercise", "--mlp", "4", "-o", mlp).returncode, 0)
        shutil.copytree(mlp, self.course / "Mia")  # it is enough if one has it
        result = run("check", self.course, "--points", "mlp=3", "--format", "csv")
        self.assertIn(b"Mia,incomplete", result.stdout)

    def test_the_work_stands_in_another_file_than_the_template(self):
        blank = json.dumps({part: [[None]] for part in ("concat", "output")})
        for other in ("answer (1).json", "answer.json.txt", "my work.json"):
            folder = self.place("Anna Li").parent
            (folder / "answer.json").write_text(blank)
            (folder / other).write_text(json.dumps(self.keys["Anna Li"]))
            self.assertEqual(self.graded_as("Anna Li"), ("right", other))
            (folder / "more.json").write_text(json.dumps(self.keys["Anna Li"]))  # which, if neither is called as an answer is?
            self.assertEqual(self.graded_as("Anna Li")[0], "right" if other.startswith("answer.") else "unusable")
            (folder / "more.json").write_text(blank)
            self.assertEqual(self.graded_as("Anna Li"), ("right", other))
            (folder / other).unlink()
        (folder / "notes.json").write_text(json.dumps({"Y": [[1]]}))  # what is called as an answer comes first
        (folder / "answer.json").write_text(json.dumps(self.keys["Anna Li"]))
        self.assertEqual(self.graded_as("Anna Li"), ("right", "answer.json"))

    def graded_as(self, name):
        answer = next(answer for answer in self.graded()["answers"] if answer["name"] == name)
        return answer["verdict"], Path(answer["file"]).name

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_a_folder_that_cannot_be_read(self):
        self.place("Anna Li").chmod(0)
        self.assertEqual(self.graded()["summary"]["unusable"], 2)


class Ids(InFolder):
    """Answers that are called as a student's id or e-mail; and two students of one name, none of whom shadows the other."""

    NAMES = ["Anna Li", "Li Wei (1003)", "Li Wei (1004)", "李伟 (a.wei@x.cn)", "李伟 (b.wei@x.cn)", "Bert Kim"]

    def setUp(self):
        super().setUp()
        roster = self.write("names.csv", "name;id;email\nAnna Li;S1001;anna.li@x\nLi Wei;1003;w@x\nLi Wei;1004;v@x\n"
                                         "李伟;;a.wei@x.cn\n李伟;;b.wei@x.cn\nBert Kim;1006;\n")
        self.course = self.folder / "class"
        result = run("exercise", "--tokens", "3", "--roster", roster, "-o", self.course)
        self.assertEqual(result.returncode, 0, result.stderr.decode())

    def graded(self, files, *arguments):
        """`files` says whose key lies where."""
        shutil.rmtree(self.folder / "all", ignore_errors=True)
        for file, name in files.items():
            (self.folder / "all" / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.course / "teacher" / name / "key.json", self.folder / "all" / file)
        result = run("check", self.course, self.folder / "all", "--format", "json", *arguments)
        report = json.loads(result.stdout)
        self.assertEqual(sum(report["summary"][verdict] for verdict in VERDICTS), len(report["answers"]))
        return {answer["name"]: answer["verdict"] for answer in report["answers"]}, result.stderr.decode()

    def test_ids_name_files_and_folders(self):
        for files in (
                ["s1001.json", "1003.json", "1004.json", "A.Wei@x.cn.json", "b.wei.json", "1006.json"],
                ["S1001/answer.json", "1003/answer.json", "v@x/work.json", "a.wei/x.json", "b.wei@x.cn/answer.json", "1006/a.json"],
                ["1001_Anna_Li.json", "Li Wei 1003.json", "liwei_1004_8_answer.json", "a.wei.json", "b.wei.json", "kimbert_3_8_a.json"],
                [f"{name}.json" for name in self.NAMES]):
            self.assertEqual(self.graded(dict(zip(files, self.NAMES)))[0], dict.fromkeys(self.NAMES, "right"), files)

    def test_namesakes_are_not_guessed(self):
        one = {name: "missing" for name in self.NAMES}
        for file in ("Li Wei.json", "liwei_5_8_answer.json", "李伟_77_assignsubmission_file_/answer.json"):
            verdicts, message = self.graded({file: "Li Wei (1003)"})
            self.assertEqual({name: verdicts[name] for name in self.NAMES}, one, file)
            self.assertEqual([verdict for name, verdict in verdicts.items() if name not in one], ["unusable"])
            self.assertIn("of several", message)
        verdicts = self.graded({"1003.json": "Li Wei (1003)", "Li Wei (1003).json": "Li Wei (1003)"})[0]
        self.assertEqual(list(verdicts.values()).count("right"), 1)  # the second is told, and is not another's
        self.assertEqual(list(verdicts.values()).count("unusable"), 1)

    def test_each_has_a_row_and_a_section(self):
        for i, name in enumerate(self.NAMES):
            if i % 2:
                shutil.copy(self.course / "teacher" / name / "key.json", self.course / name / "answer.json")
        report = json.loads(run("check", self.course, "--format", "json").stdout)
        self.assertEqual([(answer["name"], answer["verdict"]) for answer in report["answers"]],
                         [(name, "right" if i % 2 else "incomplete") for i, name in enumerate(self.NAMES)])
        self.assertEqual(run("check", self.course, "-o", self.folder / "report.html").returncode, 1)
        page = (self.folder / "report.html").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r'<section id="s\d+"><h2><bdi>([^<]*)', page), self.NAMES)

    def test_files_and_folders_beside_each_other_are_read(self):
        verdicts, message = self.graded({"S1001.json": "Anna Li", "1006/answer.json": "Bert Kim", "notes.json": "Anna Li"})
        self.assertEqual([verdicts.pop(name) for name in ("Anna Li", "Bert Kim", "notes")], ["right", "right", "unusable"])
        self.assertEqual(set(verdicts.values()), {"missing"})
        self.assertNotIn("passed over", message)
        verdicts, message = self.graded({"S1001.json": "Anna Li", "photos/2026/answer.json": "Bert Kim"})  # holds no answer
        self.assertEqual((verdicts["Anna Li"], verdicts["Bert Kim"], len(verdicts)), ("right", "missing", len(self.NAMES)))
        self.assertIn("passed over, 1 in all: ", message)
        self.assertIn("photos", message)
        (self.folder / "all" / "Cy").mkdir()
        (self.folder / "all" / "Bo").mkdir()
        shutil.copy(self.folder / "all" / "S1001.json", self.folder / "all" / "Bo" / "answer.json")
        result = run("check", self.course / "Anna Li" / "problem.json", self.folder / "all", "--format", "json")
        self.assertEqual({answer["name"]: answer["verdict"] for answer in json.loads(result.stdout)["answers"]},
                         {"S1001": "right", "Bo": "right", "Cy": "missing", "photos": "missing"})

    def test_moodles_folder_of_online_text_counts_where_there_is_nothing_else(self):
        def moodle(name, number, kind, key=None):
            folder = self.folder / "moodle" / f"{name}_{number}_assignsubmission_{kind}_"
            folder.mkdir(parents=True)
            if key:
                shutil.copy(self.course / "teacher" / key / "key.json", folder / "answer.json")
            else:
                (folder / "onlinetext.html").write_text("<p>Hello</p>")
        for name, number, key in (("Anna Li", 11, "Anna Li"), ("Bert Kim", 12, "Bert Kim"), ("Li Wei", 1003, "Li Wei (1003)")):
            moodle(name, number, "file", key)
            moodle(name, number, "onlinetext")
        moodle("Li Wei", 1004, "file")
        moodle("Li Wei", 1004, "onlinetext")
        result = run("check", self.course, self.folder / "moodle", "--format", "json")
        report = json.loads(result.stdout)
        verdicts = {answer["name"]: answer["verdict"] for answer in report["answers"]}
        self.assertEqual(verdicts, {name: "right" if name in ("Anna Li", "Bert Kim", "Li Wei (1003)") else "missing" for name in self.NAMES})
        self.assertEqual(result.returncode, 1)
        result = run("check", self.course / "Anna Li" / "problem.json", self.folder / "moodle", "--format", "json")
        answers = [(answer["name"], answer["verdict"]) for answer in json.loads(result.stdout)["answers"]]
        self.assertEqual([name for name, _ in answers], ["Anna Li", "Bert Kim", "Li Wei 1003", "Li Wei 1004"])
        self.assertEqual((answers[0][1], answers[3][1]), ("right", "missing"))

    def test_gradescopes_namesakes_have_their_id_or_email_beside_them(self):
        for sids in (["'1004'", "'1003'"], ["''", "''"]):
            self.graded({f"submission_{i}/answer.json": name
                         for i, name in enumerate(("Li Wei (1004)", "Li Wei (1003)", "Bert Kim"))})
            (self.folder / "all" / "submission_metadata.yml").write_text("---\n" + "".join(
                f"submission_{i}:\n  :submitters:\n  - :name: {name}\n    :sid: {sid}\n    :email: {email}\n  :created_at: 1\n"
                for i, (name, sid, email) in enumerate(zip(("Li Wei", "Li Wei", "Bert Kim"), [*sids, "''"], ("V@x", "w@x", "b@x")))))
            result = run("check", self.course, self.folder / "all", "--format", "json")
            verdicts = {answer["name"]: answer["verdict"] for answer in json.loads(result.stdout)["answers"]}
            self.assertEqual(verdicts, {name: "right" if name in ("Li Wei (1003)", "Li Wei (1004)", "Bert Kim") else "missing"
                                        for name in self.NAMES})
            shutil.rmtree(self.folder / "all" / "submission_1")  # one of two hands in: still not guessed
            result = run("check", self.course, self.folder / "all", "--format", "json")
            verdicts = {answer["name"]: answer["verdict"] for answer in json.loads(result.stdout)["answers"]}
            self.assertEqual((verdicts["Li Wei (1003)"], verdicts["Li Wei (1004)"], len(verdicts)), ("missing", "right", len(self.NAMES)))

    def test_an_accent_may_be_spelled_either_way(self):
        names = [unicodedata.normalize("NFC", name) for name in ("José García", "Zoë", "Gül Huber")]
        for listed, called in (("NFC", "NFD"), ("NFD", "NFC")):
            course = self.folder / listed
            roster = self.write("accents.csv", "".join(unicodedata.normalize(listed, name) + "\n" for name in names))
            self.assertEqual(run("exercise", "--tokens", "3", "--roster", roster, "-o", course).returncode, 0)
            keys = [json.loads((course / "teacher" / unicodedata.normalize(listed, name) / "key.json").read_text()) for name in names]
            files = ("{}_1_assignsubmission_file_/answer.json", "{}.json", "{}_1_2_answer.json")
            other = ["José García", "Zoë", "hubergül"]
            for file, name, key in zip(files, other, keys):
                path = self.folder / f"all{listed}" / file.format(unicodedata.normalize(called, name))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(key))
            verdicts = [answer["verdict"] for answer in
                        json.loads(run("check", course, self.folder / f"all{listed}", "--format", "json").stdout)["answers"]]
            self.assertEqual(verdicts, ["right"] * 3)
            for name, key in zip(names, keys):  # as a Mac unpacks the class itself
                folder = course / unicodedata.normalize(listed, name)
                (folder / "answer.json").write_text(json.dumps(key))
                folder.rename(course / unicodedata.normalize(called, name))
            answers = json.loads(run("check", course, "--format", "json").stdout)["answers"]
            self.assertEqual([(answer["name"], answer["verdict"]) for answer in answers],
                             [(unicodedata.normalize(listed, name), "right") for name in names])


class Score(InFolder):
    def graded(self, content, *arguments, code=None):
        result = run("check", "worked", self.write("answer.json", content), "--format", "json", *arguments)
        answer = json.loads(result.stdout)["answers"][0]
        self.assertEqual(result.returncode, CODES[answer["verdict"]])
        return answer["verdict"], answer["score"]

    def test_what_is_required(self):
        some = {"heads": [{"weights": head["weights"]} for head in WORKED["heads"]], "output": WORKED["output"]}
        self.assertEqual(self.graded(some), ("right", 2 / 9))
        self.assertEqual(self.graded(some, "--require", "weights,Y"), ("right", 2 / 9))
        self.assertEqual(self.graded(some, "--require", "concat"), ("incomplete", 2 / 9))
        self.assertEqual(self.graded(some, "--require", "all"), ("incomplete", 2 / 9))
        one_head = {"A1": WORKED["heads"][0]["weights"]}
        self.assertEqual(self.graded(one_head, "--require", "weights"), ("incomplete", 1 / 18))  # one of two heads
        self.assertEqual(self.graded(unscaled(WORKED), "--require", "all")[0], "wrong")  # which comes first
        self.assertEqual(self.graded({"Y": [[None] * 4] * 3}), ("incomplete", 0))
        self.assertEqual(self.graded({"M1": [[None]]})[0], "unusable")  # no matrix of this problem

    def test_points(self):
        wrong = unscaled(WORKED)
        self.assertEqual(self.graded(wrong), ("wrong", 4 / 9))
        self.assertEqual(self.graded(wrong, "--points", "output=4,weights=2"), ("wrong", 4 / 13))
        self.assertEqual(self.graded(wrong, "--points", "all=0,Q=0.5,scaled=1.5"), ("wrong", 0.25))
        for content in ({"output": 4, "weights": 2}, {"points": {"output": 4, "A": 2}}):
            path = self.write("points.json", content)
            self.assertEqual(self.graded(wrong, "--points", path), ("wrong", 4 / 13))
        path = self.write("bad.json", {"output": -1})
        answer = self.write("answer.json", WORKED)
        for option, text in (("--points", "output"), ("--points", "output=x"), ("--points", "outptu=1"), ("--points", "all=0"), ("--points", path),
                             ("--points", "none.json"), ("--require", "outptu"), ("--require", ""), ("--as", "Yx")):
            result = run("check", "worked", answer, option, text)
            self.assertEqual((result.returncode, result.stdout), (2, b""), text)
            self.assertTrue(result.stderr.startswith(b"mha: "))

    def test_gradescope_has_one_maximum_and_names_every_step(self):
        names = None
        for content, score in ((WORKED, 13), (unscaled(WORKED), 4), ({"Y": WORKED["output"]}, 4), ("{", 0), ({"Y": None}, 0)):
            result = run("check", "worked", self.write("answer.json", content), "--points", "output=4,weights=2", "--format",
                         "gradescope")
            results = json.loads(result.stdout)
            self.assertEqual(results["score"], score)
            self.assertEqual(sum(test["score"] for test in results["tests"]), score)
            self.assertEqual(sum(test["max_score"] for test in results["tests"]), 13)
            names = names or [test["name"] for test in results["tests"]]
            self.assertEqual([test["name"] for test in results["tests"]], names)
            self.assertTrue(results["output"])
        self.assertEqual(len(names), 9)

    def test_a_class_of_one(self):
        page = run("check", "worked", self.write("answer.json", WORKED), "--class").stdout.decode()
        self.assertIn("1 right · 0 incomplete", page)
        self.assertIn("100 %", page)

    def test_no_known_mistake_is_counted(self):
        odd = {"heads": [{"scores": [[7.25, 1, 1], [0, 4, 2], [1, 2, 2]]}]}
        paths = [self.write("a.json", odd), self.write("b.json", unscaled(WORKED)), self.write("c.json", odd)]
        summary = json.loads(run("check", "worked", *paths, "--format", "json", "--summary").stdout)["summary"]
        self.assertEqual(summary["mistakes"], [{"id": None, "count": 2}, {"id": "no_scale", "count": 1}])
        self.assertEqual(summary["steps"], [{"step": "scores", "first_wrong": 2}, {"step": "scaled", "first_wrong": 1}])
        hidden = json.loads(run("check", "worked", *paths, "--format", "json", "--hint", "2").stdout)["summary"]
        self.assertNotIn("mistakes", hidden)


class Arrays(InFolder):
    def verdicts(self, *arguments):
        result = run("check", "worked", *arguments, "--format", "json")
        return [answer["verdict"] for answer in json.loads(result.stdout)["answers"]], result

    def test_what_run_writes_is_read(self):
        for dtype in ("f64", "f32"):
            for ending in ("npz", "safetensors"):
                path = self.folder / f"t.{ending}"
                self.assertEqual(run("run", "worked", "--dtype", dtype, "--with-weights", "-o", path).returncode, 0)
                self.assertEqual(self.verdicts(path, "--require", "all")[0], ["right"])

    def test_numpy_under_any_name(self):
        weights = [numpy.array(head["weights"]) for head in WORKED["heads"]]
        path = self.folder / "answer.npz"
        numpy.savez_compressed(path, A1=weights[0], weights2=numpy.asfortranarray(weights[1]), Y=numpy.array(WORKED["output"]),
                               note=numpy.array("hello"))
        self.assertEqual(self.verdicts(path)[0], ["right"])
        numpy.savez(path, A=numpy.stack(weights), Y=numpy.round(WORKED["output"], 3))
        self.assertEqual(self.verdicts(path)[0], ["right"])
        numpy.savez(path, A1=weights[1])
        self.assertEqual(self.verdicts(path)[0], ["wrong"])
        numpy.savez(path, other=weights[1])
        verdicts, result = self.verdicts(path)
        self.assertEqual((verdicts, result.returncode), (["unusable"], 2))
        self.assertIn("names no step", result.stderr.decode())
        path.write_bytes(b"PK")
        self.assertEqual(self.verdicts(path)[0], ["unusable"])

    def test_one_matrix(self):
        for name in ("Y", "mine"):
            numpy.save(self.folder / f"{name}.npy", numpy.array(WORKED["output"], dtype=numpy.float32))
        self.assertEqual(self.verdicts(self.folder / "Y.npy")[0], ["right"])
        verdicts, result = self.verdicts(self.folder / "mine.npy")
        self.assertEqual(verdicts, ["unusable"])
        self.assertIn("--as", result.stderr.decode())
        self.assertEqual(self.verdicts(self.folder / "mine.npy", "--as", "Y")[0], ["right"])
        self.assertEqual(self.verdicts(self.folder / "mine.npy", "--as", "A1")[0], ["wrong"])
        for odd in (numpy.zeros(3), numpy.array(1.0), numpy.zeros((2, 2), dtype=bool), numpy.zeros((1, 2), dtype=complex)):
            numpy.save(self.folder / "odd.npy", odd)
            verdicts, result = self.verdicts(self.folder / "odd.npy", "--as", "Y")
            self.assertEqual(verdicts, ["unusable"])
            self.assertTrue(result.stderr.decode().startswith(f"mha: {self.folder / 'odd.npy'}"), result.stderr)


if __name__ == "__main__":
    unittest.main()
