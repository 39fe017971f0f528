"""A course on the services that docs/teaching.md names, as far as it goes without them: Gradescope's autograder is built and
run as the service does, and GitHub Classroom's workflow as it stands in the document."""

import copy
import json
import os
import re
import shutil
import subprocess
import tempfile
import unicodedata
import unittest
import zipfile
from pathlib import Path

from mha import MHA, SOURCE, environment, run

DOCUMENTS = [SOURCE / "docs" / name for name in ("teaching.md", "teaching.zh.md")]


class Course(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        (self.folder / "names.csv").write_text("name,email\nAnna Li,a@x\n张三,z@x\n", encoding="utf-8")
        self.course = self.folder / "class"
        result = run("exercise", "--tokens", "5", "--roster", self.folder / "names.csv", "-o", self.course)
        self.assertEqual(result.returncode, 0, result.stderr.decode())

    def key(self, name):
        return json.loads((self.course / "teacher" / name / "key.json").read_text())

    def shell(self, *command, cwd=None, **variables):
        return subprocess.run(command, cwd=cwd or self.folder, env=environment() | variables, capture_output=True, check=False,
                              timeout=300)


class Gradescope(Course):
    def upload(self, given, *options):
        """As the service unpacks the zip."""
        archive = self.folder / "autograder.zip"
        result = self.shell(SOURCE / "scripts" / "gradescope", given, archive, *options)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.root = self.folder / "autograder"
        shutil.rmtree(self.root, ignore_errors=True)
        with zipfile.ZipFile(archive) as file:
            self.assertIn("mha/CMakeLists.txt", file.namelist())
            for entry in file.infolist():
                path = Path(file.extract(entry, self.root / "source"))
                path.chmod(entry.external_attr >> 16)
        self.assertTrue(os.access(self.root / "source" / "run_autograder", os.X_OK))
        shutil.copy(self.root / "source" / "run_autograder", self.root)

    def submit(self, files, *users):
        shutil.rmtree(self.root / "submission", ignore_errors=True)
        (self.root / "submission").mkdir()
        for name, content in files.items():
            text = content if isinstance(content, (str, bytes)) else json.dumps(content)
            (self.root / "submission" / name).write_bytes(text.encode() if isinstance(text, str) else text)
        users = [user if isinstance(user, dict) else {"name": user} for user in users]
        (self.root / "submission_metadata.json").write_text(json.dumps({"users": users}))
        result = self.shell(self.root / "run_autograder", cwd="/")
        results = json.loads((self.root / "results" / "results.json").read_text())
        self.assertTrue(results["output"], result.stderr.decode())
        self.assertEqual(results["score"], sum(test["score"] for test in results.get("tests", [])))
        return results

    def test_one_problem_for_all(self):
        self.upload(self.course / "Anna Li" / "problem.json", "--points", "output=4", "--lang", "zh")
        key = self.key("Anna Li")
        for content, score in ((key, 12), ({"Y": key["output"]}, 4), ({"Y": None}, 0), ("{", 0)):
            results = self.submit({"answer.json": content, "problem.json": "{}"})
            self.assertEqual((results["score"], sum(test["max_score"] for test in results["tests"])), (score, 12))
            self.assertEqual(results["tests"][0]["name"], "查询")
        self.assertEqual(self.submit({"sheet.json": key})["score"], 12)
        self.assertEqual(self.submit({"notes.txt": "nothing"})["score"], 0)
        self.assertEqual(self.submit({"a.json": key, "b.json": key})["score"], 0)

    def test_everyone_has_a_problem_of_their_own(self):
        self.upload(self.course)
        self.assertFalse(list(self.root.rglob("key*.json")) + list(self.root.rglob("mistakes.json")))
        for name, users in (("张三", ["张三"]), ("Anna Li", ["Somebody", "LI, Anna"])):
            self.assertEqual(self.submit({"answer.json": self.key(name)}, *users)["score"], 9)
        self.assertLess(self.submit({"answer.json": self.key("张三")}, "Anna Li")["score"], 9)
        self.assertIn("class list", self.submit({"answer.json": self.key("张三")}, "Nobody")["output"])

    def test_two_of_the_same_letters_are_not_guessed(self):
        roster = self.folder / "two.csv"
        roster.write_text("name\nLi Wei\nWei Li\n", encoding="utf-8")
        self.course = self.folder / "two"
        self.assertEqual(self.shell(MHA, "exercise", "--roster", roster, "-o", self.course).returncode, 0)
        self.upload(self.course)
        self.assertEqual(self.submit({"answer.json": self.key("Wei Li")}, "Wei Li")["score"], 9)
        results = self.submit({"answer.json": self.key("Wei Li")}, "wei li")
        self.assertEqual((results["score"], "more than once" in results["output"]), (0, True))

    def test_accents_may_be_spelled_either_way(self):
        roster = self.folder / "accents.csv"
        roster.write_text(unicodedata.normalize("NFD", "name\nJosé García\nZoë\n"), encoding="utf-8")
        self.course = self.folder / "accents"
        self.assertEqual(self.shell(MHA, "exercise", "--roster", roster, "-o", self.course).returncode, 0)
        self.upload(self.course)
        key = self.key(unicodedata.normalize("NFD", "José García"))
        self.assertEqual(self.submit({"answer.json": key}, unicodedata.normalize("NFC", "José García"))["score"], 9)

    def test_a_file_of_points_goes_along(self):
        points = self.folder / "my points.json"
        points.write_text('{"points": {"output": 4}}')
        for option in (["--points", points], [f"--points={points}"]):
            self.upload(self.course / "Anna Li" / "problem.json", *option)
            results = self.submit({"answer.json": self.key("Anna Li")}, "Anna Li")
            self.assertEqual((results["score"], sum(test["max_score"] for test in results["tests"])), (12, 12))

    def test_wrong_options_are_told_while_it_is_built(self):
        for options in (["--pionts", "output=4"], ["--points", "outputs=4"]):
            archive = self.folder / "wrong.zip"
            result = self.shell(SOURCE / "scripts" / "gradescope", self.course, archive, *options)
            self.assertEqual((result.returncode, archive.exists()), (2, False), options)
            self.assertIn(b"mha", result.stderr)

    def test_a_workbook_is_an_answer(self):
        problem = self.course / "Anna Li" / "problem.json"
        self.upload(problem)
        sheet = self.folder / "sheet.xlsx"
        result = self.shell(MHA, "run", problem, "-o", sheet)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertEqual(self.submit({"sheet.xlsx": sheet.read_bytes()}, "Anna Li")["score"], 9)

    def test_namesakes_are_told_apart_by_their_e_mail(self):
        (self.folder / "two.csv").write_text("name,id,email\nLi Wei,1003,w@x\nLi Wei,1004,v@x\nBo,1005,b@x\n", encoding="utf-8")
        self.course = self.folder / "two"
        self.assertEqual(run("exercise", "--tokens", "5", "--roster", self.folder / "two.csv", "-o", self.course).returncode, 0)
        self.upload(self.course)
        for name, email in (("Li Wei (1003)", "W@x"), ("Li Wei (1004)", "v@x")):
            self.assertEqual(self.submit({"answer.json": self.key(name)}, {"name": "Li Wei", "email": email})["score"], 9)
        self.assertEqual(self.submit({"answer.json": self.key("Bo")}, {"name": "Bo", "email": "other@x"})["score"], 9)
        for name in ("Li Wei", "Wei, Li"):
            self.assertIn("more than once", self.submit({"answer.json": self.key("Bo")}, {"name": name, "email": "u@x"})["output"])

    def test_setup_builds_and_installs(self):
        self.upload(self.course)
        sources = self.root / "source" / "mha"
        configured = self.shell("cmake", "--preset", "release", "-DMHA_TESTS=OFF", "-DFETCHCONTENT_FULLY_DISCONNECTED=ON",
                                cwd=sources)
        self.assertEqual(configured.returncode, 0, configured.stderr.decode())  # nothing is missing in the zip
        shutil.rmtree(sources / "build")
        tools = self.folder / "tools"
        tools.mkdir()
        for name, script in (("dpkg-query", "echo installed"), ("g++", "echo 12"),
                             ("cmake", f'case $1 in --version) echo "cmake version 3.25.1";; --build) mkdir -p build; cp {MHA} '
                                       'build/mha;; *) test "$*" = "--preset release -DMHA_TESTS=OFF" -a -e CMakePresets.json;; '
                                       'esac')):
            (tools / name).write_text(f"#!/bin/sh\n{script}\n")
            (tools / name).chmod(0o755)
        result = self.shell("bash", self.root / "source" / "setup.sh", MHA_BIN=str(self.folder / "bin"),
                            PATH=f"{tools}:/usr/bin:/bin")
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertEqual(subprocess.run([self.folder / "bin" / "mha", "examples"], capture_output=True, check=False).returncode, 0)

    def test_usage(self):
        for arguments in ([], [self.course], [self.course, "out.tar"]):
            self.assertEqual(self.shell(SOURCE / "scripts" / "gradescope", *arguments).returncode, 2)
        self.assertNotEqual(self.shell(SOURCE / "scripts" / "gradescope", "none.json", "out.zip").returncode, 0)
        self.assertFalse((self.folder / "out.zip").exists())


class Classroom(Course):
    def test_the_workflow_grades_a_repository(self):
        for document in DOCUMENTS:
            workflow = re.search(r"```yaml\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL)[1]
            commands = [line.split("run: ", 1)[1].partition("#")[0] for line in workflow.splitlines() if "run: " in line]
            self.assertEqual(len(commands), 2)
            self.assertEqual(commands[0].split(), ["mha/scripts/demo"])
            self.assertTrue((SOURCE / "scripts" / "demo").exists())
            repository = self.folder / "repository"
            shutil.rmtree(repository, ignore_errors=True)
            shutil.copytree(self.course / "Anna Li", repository)
            (repository / "mha" / "build").mkdir(parents=True)
            (repository / "mha" / "build" / "mha").symlink_to(MHA)
            self.assertEqual(self.shell("sh", "-c", commands[1], cwd=repository).returncode, 1)
            (repository / "answer.json").write_text(json.dumps(self.key("Anna Li")))
            self.assertEqual(self.shell("sh", "-c", commands[1], cwd=repository).returncode, 0)

    def test_repositories_are_a_class(self):
        for name, user in (("Anna Li", "week-3-anna"), ("张三", "week-3-zhang")):
            shutil.copytree(self.course / name, self.folder / "all" / user)
        wrong = copy.deepcopy(self.key("Anna Li"))
        wrong["output"][0][0] += 1
        (self.folder / "all" / "week-3-anna" / "answer.json").write_text(json.dumps(wrong))
        (self.folder / "all" / "week-3-zhang" / "answer.json").unlink()
        (self.folder / "all" / "index.csv").write_text("name,folder\nAnna Li,week-3-anna\n", encoding="utf-8")
        answers = json.loads(run("check", self.folder / "all", "--format", "json").stdout)["answers"]
        self.assertEqual([(answer["name"], answer["verdict"]) for answer in answers],
                         [("Anna Li", "wrong"), ("week-3-zhang", "missing")])


if __name__ == "__main__":
    unittest.main()
