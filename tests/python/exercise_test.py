"""Exercises as teacher and student meet them: the files, the template filled in and checked, a class with a roster."""

import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from mha import MHA, environment, run

STUDENT = {"problem.json", "worksheet.md", "worksheet.txt", "answer.json"}
TEACHER = {"key.json", "key_rounded.json", "mistakes.json"}
BEST = ["--tokens", "5", "--mask", "causal", "--bias", "--seed", "7"]


def names_in(folder):
    return {path.name for path in folder.iterdir()}


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def shape(value):
    """Of a list of lists, as a tuple; () of anything else."""
    return (len(value), *shape(value[0])) if isinstance(value, list) else ()


def entries(value):
    """All numbers, nulls and texts in nested lists and objects."""
    if isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from entries(part)
    else:
        yield value


def filled_in(template, key):
    """The template with the key's numbers in place of its nulls."""
    if isinstance(template, dict):
        return {name: filled_in(part, key[name]) for name, part in template.items()}
    if isinstance(template, list):
        assert len(template) == len(key)
        return [filled_in(part, number) for part, number in zip(template, key)]
    return key if template is None else template


def student_seed(seed, name):
    """FNV-1a, 64 bits, over "SEED/NAME", folded to 31 bits."""
    value = 0xCBF29CE484222325
    for byte in f"{seed}/{name}".encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return (value ^ value >> 32) & 0x7FFFFFFF


class InFolder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def exercise(self, name, *arguments):
        folder = self.folder / name
        result = run("exercise", *arguments, "-o", folder)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertEqual(result.stdout, b"")
        return folder

    def refused(self, code, *arguments):
        result = run("exercise", *arguments)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        self.assertTrue(result.stderr.startswith(b"mha: "))
        return result.stderr.decode()

    def check(self, folder, answer):
        (folder / "given.json").write_text(json.dumps(answer), encoding="utf-8")
        return run("check", folder / "problem.json", folder / "given.json", "--format", "json")


class Files(InFolder):
    def test_one_exercise(self):
        folder = self.exercise("new/folder", *BEST)
        self.assertEqual(names_in(folder), STUDENT | TEACHER)
        template, key = read(folder / "answer.json"), read(folder / "key.json")
        self.assertEqual(shape(template["output"]), shape(key["output"]))
        self.assertEqual(len(template["heads"]), 3)
        for blank, true in zip(template["heads"], key["heads"]):
            self.assertEqual({name: shape(value) for name, value in blank.items()},
                             {name: shape(value) for name, value in true.items() if name in blank})
            self.assertEqual(set(true) - set(blank), set())
        del template["heads"][0]["head"], template["heads"][1]["head"], template["heads"][2]["head"]
        self.assertEqual(set(entries(template)), {None})
        self.assertIsNone(key["rounding"])
        self.assertEqual(read(folder / "key_rounded.json")["rounding"], 3)

    def test_the_key_is_what_run_computes(self):
        folder = self.exercise("one", *BEST)
        for key, more in (("key.json", []), ("key_rounded.json", ["--round", "3"])):
            computed = run("run", folder / "problem.json", "--format", "json", *more)
            self.assertEqual(computed.stderr, b"")
            self.assertEqual(computed.stdout, (folder / key).read_bytes())

    def test_same_seed_same_bytes(self):
        one, other, third = self.exercise("1", *BEST), self.exercise("2", *BEST), self.exercise("3", *BEST[:-1], "8")
        for name in STUDENT | TEACHER:
            self.assertEqual((one / name).read_bytes(), (other / name).read_bytes(), name)
        self.assertNotEqual((one / "problem.json").read_bytes(), (third / "problem.json").read_bytes())

    def test_files_of_the_same_exercise_are_replaced_and_others_left(self):
        folder = self.exercise("one")
        (folder / "notes.txt").write_text("mine")
        first = (folder / "problem.json").read_bytes()
        self.exercise("one", "--lang", "zh")
        self.assertEqual((folder / "problem.json").read_bytes(), first)
        self.assertIn("姓名", (folder / "worksheet.txt").read_text(encoding="utf-8"))
        self.assertEqual((folder / "notes.txt").read_text(), "mine")
        self.assertEqual(names_in(folder), STUDENT | TEACHER | {"notes.txt"})

    def test_one_exercise_a_folder(self):
        folder = self.exercise("one")
        before = {path: path.read_bytes() for path in folder.iterdir()}
        self.assertIn("another exercise", self.refused(2, "--seed", "2", "-o", folder))
        self.assertIn("another exercise", self.refused(2, "--title", "Week 2", "-o", folder))
        self.assertEqual({path: path.read_bytes() for path in folder.iterdir()}, before)

    def test_of_two_at_the_same_moment_one_refuses(self):
        for more in ((), ("--roster", str(self.folder / "names.csv"))):
            (self.folder / "names.csv").write_text("Anna\nBo\n")
            for attempt in range(3):
                folder = self.folder / f"{len(more)}-{attempt}"
                seeds = [subprocess.Popen([MHA, "exercise", *BEST[:-1], str(seed), *more, "-o", folder], env=environment(),
                                          stderr=subprocess.PIPE) for seed in (1, 2)]
                said = [process.communicate(timeout=300)[1] for process in seeds]
                self.assertEqual(sorted(process.returncode for process in seeds), [0, 2], said)
                first = 1 + [process.returncode for process in seeds].index(0)
                alone = self.exercise(f"alone{len(more)}-{first}", *BEST[:-1], str(first), *more)
                self.assertEqual(names_in(folder), names_in(alone))
                for path in folder.rglob("*.json"):
                    self.assertEqual(path.read_bytes(), (alone / path.relative_to(folder)).read_bytes(), path)

    def test_it_says_what_it_wrote_and_what_comes_next(self):
        for language, more in (("en", "when answer.json is filled in"), ("zh", "填好 answer.json 以后")):
            folder = self.folder / language
            said = run("exercise", "-o", folder, "--lang", language).stderr.decode()
            self.assertEqual(said.count("\n"), 1, said)  # and warns of nothing: the sizes are well chosen
            self.assertIn(more, said)
            for name in STUDENT | TEACHER:
                self.assertIn(name, said)
            command = re.search("`mha (check [^`]*)`", said)[1].split()
            self.assertEqual(run(*command).returncode, 1)  # nothing is filled in yet

    def test_title_and_due_date_stand_on_the_sheet(self):
        for language, due in (("en", "Due: Friday, 10:00"), ("zh", "截止：Friday, 10:00")):
            folder = self.exercise(language, "--title", "Week 2 <*>", "--due", "Friday, 10:00", "--lang", language)
            sheet = (folder / "worksheet.txt").read_text(encoding="utf-8")
            self.assertIn("Week 2 <*>", sheet.splitlines()[0])
            self.assertIn(due, sheet)
            self.assertIn("Week 2", (folder / "worksheet.md").read_text(encoding="utf-8"))
            self.assertEqual(read(folder / "problem.json")["title"], "Week 2 <*>")
        self.assertIn("UTF-8", self.refused(2, "--due", b"\xe4", "-o", self.folder / "new"))

    def test_the_last_step_holds_together(self):
        sheet = (self.exercise("one") / "worksheet.txt").read_text(encoding="utf-8")
        self.assertRegex(sheet, r"Concat  ·  [⎡⎢]")
        self.assertLessEqual(max(map(len, sheet.splitlines())), 80)

    def test_nobodys_work_is_written_over(self):
        folder = self.exercise("one")
        answer = filled_in(read(folder / "answer.json"), read(folder / "key_rounded.json"))
        (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
        before = {path: path.read_bytes() for path in folder.iterdir()}
        self.assertIn("filled in already", self.refused(2, "--seed", "2", "-o", folder))
        self.assertEqual({path: path.read_bytes() for path in folder.iterdir()}, before)

    def test_options_reach_the_problem_and_the_worksheet(self):
        folder = self.exercise("one", "--tokens", "4", "--d-model", "8", "--heads", "4", "--kv-heads", "2", "--d-k", "3",
                               "--round", "2", "--lang", "zh", "--difficulty", "hard")
        config = read(folder / "key_rounded.json")["config"]
        self.assertEqual([config[name] for name in ("tokens", "d_model", "heads", "kv_heads", "d_k", "d_v", "d_out")],
                         [4, 8, 4, 2, 3, 3, 8])
        self.assertEqual(config["mask"], "none")
        self.assertEqual(read(folder / "key_rounded.json")["rounding"], 2)
        for name in ("worksheet.md", "worksheet.txt"):
            page = (folder / name).read_text(encoding="utf-8")
            self.assertIn("2 位小数", page)
            self.assertIn("_____", page)
            self.assertNotIn("______", page)


class Circle(InFolder):
    def test_the_template_filled_in_is_right(self):
        folder = self.exercise("one", *BEST)
        template = read(folder / "answer.json")
        for key in ("key.json", "key_rounded.json"):
            result = self.check(folder, filled_in(template, read(folder / key)))
            self.assertEqual(result.returncode, 0, result.stdout.decode())
            self.assertEqual(json.loads(result.stdout)["answers"][0]["verdict"], "right")

    def test_a_template_not_filled_in_is_incomplete(self):
        folder = self.exercise("one")
        result = run("check", folder / "problem.json", folder / "answer.json", "--format", "json")
        self.assertEqual(result.returncode, 1)
        answer = json.loads(result.stdout)["answers"][0]
        self.assertEqual((answer["verdict"], answer["score"], answer["given"]), ("incomplete", 0, 0))

    def test_each_of_the_teachers_mistakes_is_recognised(self):
        folder = self.exercise("one", *BEST)
        made = read(folder / "mistakes.json")["mistakes"]
        self.assertGreater(len(made), 50)
        lines = [{"name": f"{i}"} | {key: mistake[key] for key in ("heads", "concat", "output") if key in mistake}
                 for i, mistake in enumerate(made)]
        (folder / "made.jsonl").write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
        result = run("check", folder / "problem.json", folder / "made.jsonl", "--format", "json")
        self.assertEqual(result.returncode, 1, result.stderr.decode())
        for mistake, answer in zip(made, json.loads(result.stdout)["answers"], strict=True):
            self.assertIn(mistake["id"], answer["mistakes"])
            self.assertEqual(mistake["first_wrong"], answer["first_wrong"]["step"])
            self.assertTrue(mistake["what"]["en"] and mistake["what"]["zh"])


class Warnings(InFolder):
    def warning(self, *arguments):
        folder = self.folder / str(len(list(self.folder.iterdir())))
        said = run("exercise", *arguments, "-o", folder).stderr.decode().splitlines()
        return "\n".join(line for line in said if str(folder) not in line)

    def test_sizes_that_hide_something_are_named(self):
        text = self.warning("--d-model", "4", "--heads", "2")
        self.assertIn("hide scale_sqrt_heads:", text)
        self.assertIn("scale_dk, scale_sqrt_dmodel apart", text)
        self.assertIn("--tokens 5 --d-model 6 --heads 3", text)
        self.assertIn("merge_without_transpose", self.warning("--heads", "1"))

    def test_the_best_sizes_are_quiet(self):
        self.assertEqual(self.warning(*BEST), "")
        self.assertEqual(self.warning("--tokens", "5", "--d-model", "12", "--heads", "6", "--kv-heads", "2"), "")


class Roster(InFolder):
    def roster(self, text, encoding="utf-8"):
        path = self.folder / "names.csv"
        path.write_bytes(text.encode(encoding))
        return path

    def test_one_folder_for_each_student(self):
        folder = self.exercise("class", "--roster", self.roster("Anna\n\n张三,3\n../b\n"), "--seed", "5")
        self.assertEqual(names_in(folder), {"Anna", "张三", "_._b", "teacher"})
        self.assertEqual(names_in(folder / "teacher"), {"Anna", "张三", "_._b", "index.csv"})
        lines = (folder / "teacher" / "index.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(lines[0], "name,folder,seed")
        self.assertEqual(lines[1:], [f"{name},{place},{student_seed(5, name)}"
                                     for name, place in (("Anna", "Anna"), ("张三", "张三"), ("../b", "_._b"))])
        for name in ("Anna", "张三", "_._b"):
            self.assertEqual(names_in(folder / name), STUDENT)
            self.assertEqual(names_in(folder / "teacher" / name), TEACHER)
        self.assertIn("Name: 张三\n", (folder / "张三" / "worksheet.txt").read_text(encoding="utf-8"))

    def test_namesakes_have_folders_and_numbers_of_their_own(self):
        folder = self.exercise("class", "--roster", self.roster("name;id\n李伟;1003\n李伟;1004\nBo;=1\n"), "--seed", "5")
        names = ["李伟 (1003)", "李伟 (1004)"]
        lines = (folder / "teacher" / "index.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(lines, ["name,folder,seed,id,email",
                                 *(f"{name},{name},{student_seed(5, name)},{name[4:8]}," for name in names),
                                 f"Bo,Bo,{student_seed(5, 'Bo')},'=1,"])
        self.assertEqual(names_in(folder), {*names, "Bo", "teacher"})
        problems = [(folder / name / "problem.json").read_text(encoding="utf-8") for name in names]
        self.assertNotEqual(*problems)
        result = run("exercise", "--roster", self.roster("name;id\nBo;1\nBo;1\n"), "-o", self.folder / "none")
        self.assertEqual(result.returncode, 2)
        self.assertIn("names.csv:3: ", result.stderr.decode())

    def test_the_next_command_runs_as_it_is_printed(self):
        roster = self.roster("Anna\nBert\n")
        for more in ((), ("--roster", roster)):
            for i, name in enumerate(("plain", "my class", "it's", "a $(x) & b", "-x", "班 级", "~")):
                for language in ("en", "zh"):
                    place = self.folder / f"{len(more)}{i}{language}"
                    place.mkdir()
                    result = run("exercise", *BEST, *more, "-o", name, cwd=place)
                    self.assertEqual(result.returncode, 0, result.stderr.decode())
                    command = re.search("`(.*)`", result.stderr.decode().splitlines()[-1])[1]
                    done = subprocess.run(["sh", "-c", command], cwd=place, env=environment(), capture_output=True, check=False)
                    self.assertEqual((done.returncode, done.stderr), (1, b""), command)  # nothing is filled in
                    self.assertEqual("'" in command, i not in (0, 4), command)

    def test_rosters_as_programs_write_them(self):
        for i, text in enumerate(('"Anna Li"\r"José"\r', "sep=;\nname;id\nAnna Li;1\nJosé;2\n", "sep=\t\r\nAnna Li\t1\r\nJosé\t2\r\n",
                                  "Student,ID,SIS User ID,HW (1)\n,,,Manual Posting\n    Points Possible,,,10\nAnna Li,7,,\nJosé,8,,\n")):
            folder = self.exercise(f"class{i}", "--roster", self.roster(text))
            self.assertEqual(names_in(folder), {"Anna Li", "José", "teacher"}, text)
        message = self.refused(2, "--roster", self.roster("sep=;\rAnna;1\r\rAnna;2\r"), "-o", self.folder / "none")
        self.assertIn("names.csv:4:", message)

    def test_names_of_the_teachers_files(self):
        folder = self.exercise("class", "--roster", self.roster("teacher\nindex.csv\n"))
        self.assertEqual(names_in(folder), {"teacher", "teacher (2)", "index.csv (2)"})

    def test_the_index_gives_each_exercise_again(self):
        folder = self.exercise("class", "--roster", self.roster("Anna\nBert\n"), "--mask", "causal")
        problems = {(folder / name / "problem.json").read_bytes() for name in ("Anna", "Bert")}
        self.assertEqual(len(problems), 2)
        again = self.exercise("again", "--mask", "causal", "--seed", str(student_seed(1, "Anna")))
        self.assertEqual((again / "problem.json").read_bytes(), (folder / "Anna" / "problem.json").read_bytes())

    def test_a_class_takes_seconds(self):
        self.exercise("class", *BEST, "--roster", self.roster("".join(f"student {i}\n" for i in range(30))))

    def test_bad_rosters_leave_nothing(self):
        for text, encoding, word in (("Anna\nAnna\n", "utf-8", "names.csv:2:"), ("张三\n", "gbk", "UTF-8"), ("", "utf-8", "")):
            message = self.refused(2, "--roster", self.roster(text, encoding), *BEST, "-o", self.folder / "class")
            self.assertIn(word, message)
            self.assertFalse((self.folder / "class").exists())


class Refusals(InFolder):
    def test_options_that_do_not_fit(self):
        folder = str(self.folder / "x")
        self.assertIn("-o DIR", self.refused(2))
        self.assertIn("--d-k", self.refused(2, "--heads", "4", "-o", folder))
        self.assertIn("--kv-heads 2", self.refused(2, "--kv-heads", "2", "-o", folder))
        self.assertIn("1 to 8", self.refused(2, "--tokens", "9", "-o", folder))
        self.assertIn("--difficulty", self.refused(2, "--difficulty", "esay", "-o", folder))
        self.assertIn("--seed", self.refused(2, "--seed", "-1", "-o", folder))
        self.assertFalse(Path(folder).exists())

    def test_a_folder_that_cannot_be_made(self):
        (self.folder / "file").write_text("")
        self.refused(4, *BEST, "-o", self.folder / "file")


if __name__ == "__main__":
    unittest.main()
