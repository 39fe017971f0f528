# What -o may write, and what pages look like where there is little room or ASCII only: every command, the real binary.
import json
import os
import re
import unittest

from faults_test import InFolder, run

READING = {"run": [], "gradient": ["--loss", "sum"], "cost": [], "shapes": [], "bench": ["--repeat", "1"], "inspect": [],
           "decode": [], "mistakes": [], "compare": ["--mistake", "no_scale"], "explain": ["Y[1,1]"], "check": ["a.json"]}
WRITING = {name: [name, "files.json", *more] for name, more in READING.items()}
ROWS = [[1, 0, 2, 1], [0, 1, 1, 3], [2, 1, 0, 1]]
WEIGHTS = [[1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]]


class Outputs(InFolder):
    def setUp(self):
        super().setUp()
        problem = {"X": {"file": "X.csv.npz", "name": "X"}, "num_heads": 2, "mask": "causal", "W_O": "identity",
                   **{name: WEIGHTS for name in ("W_Q", "W_K", "W_V")}}
        self.write("X.json", json.dumps({**problem, "X": ROWS}))
        run("run", "X.json", "--steps", "X", "-o", "X.csv.npz", cwd=self.folder)
        self.write("files.json", json.dumps(problem))
        self.write("T.json", json.dumps(ROWS))
        self.write("a.json", json.dumps({"Y": ROWS}))

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    # Every command that has -o and reads a problem stands in the table.
    def test_the_table_is_whole(self):
        overview = run("--help").stdout.decode()
        for name in re.findall(r"^  (\w+)  ", overview, re.M):
            told = run(name, "--help").stdout.decode()
            if "--output" in told and "--allow-outside" in told and name not in ("exercise", "import"):
                self.assertIn(name, READING)

    # An option that none of the outputs reads is refused, and the message names those that do.
    def test_options_that_mean_nothing_for_what_is_written(self):
        descend = ["gradient", "--loss", "sum", "--descend", "0.1"]
        for arguments, option, reader, others in (
                (["run", "--fragment"], "--fragment", ".tex", [".md", ".html"]),
                (["run", "--math", "none"], "--math", ".md", [".tex", ".txt"]),
                (["run", "--view", "lines"], "--view", ".svg", [".html", ".json"]),
                (["run", "--columns", "2"], "--columns", ".svg", [".tex", ".npz"]),
                (["run", "--with-weights"], "--with-weights", ".json", [".html", ".csv"]),
                (["run", "--with-weights"], "--with-weights", ".npz", [".svg"]),
                (["run", "--ascii"], "--ascii", ".txt", [".html", ".json"]),
                (["run", "--work", "all"], "--work", ".md", [".json", ".svg"]),
                (["run", "--lang", "both"], "--lang both", ".html", [".txt", ".md", ".tex", ".svg", ".json"]),
                (["run", "--lang=both"], "--lang both", ".xlsx", [".csv"]),
                (descend, "--descend", ".txt", [".json", ".npz"]),
                (["gradient", "--loss", "sum", "--with-forward"], "--with-forward", ".md", [".json"]),
                (["decode", "--lang", "both"], "--lang both", ".ipynb", [".txt", ".csv"]),
                (["explain", "Y[1,1]", "--fragment"], "--fragment", ".tex", [".json"]),
                (["cost", "--model", "bert-base", "--tokens", "4", "--math", "none"], "--math", ".md", [".txt"]),
                (["inspect", "--lang", "both"], "--lang both", ".html", [".txt"]),
                (["mistakes", "--lang", "both"], "--lang both", ".html", [".md"]),
                (["models", "--lang", "both"], "--lang both", ".html", [".json"]),
                (["examples", "--lang", "both"], "--lang both", ".html", [".txt"]),
                (["bench", "--repeat", "1", "--lang", "both"], "--lang both", ".html", [".txt"]),
                (["check", "X.json", "a.json", "--lang", "both"], "--lang both", ".html", [".csv", ".txt"]),
                (["exercise", "--lang", "both"], "--lang both", ".ipynb", ["", ".md"])):
            for ending in others:
                result = run(*arguments, "-o", "none" + ending, cwd=self.folder)
                message = result.stderr.decode()
                self.assertEqual(result.returncode, 2, (arguments, ending, message))
                self.assertRegex(message, f"^mha: {option} means nothing for what is written here; [^\n]*{re.escape(reader)} ")
                self.assertFalse(os.path.exists(self.path("none" + ending)), ending)
            result = run(*arguments, "-o", arguments[0] + reader, cwd=self.folder)
            self.assertIn(result.returncode, (0, 1), (arguments, reader, result.stderr.decode()))
            if arguments[0] in ("run", "gradient"):  # one that reads it suffices
                result = run(*arguments, "-o", "one" + reader, "-o", "other" + others[0], cwd=self.folder)
                self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertEqual(run("run", "--fragment").returncode, 2)
        self.assertEqual(run("run", "--fragment", "--format", "latex").returncode, 0)
        self.assertEqual(run("run", "--lang", "both").returncode, 2)
        self.assertEqual(run("import", "x", "--lang", "both", "-o", "y.json").returncode, 2)
        result = run(*descend, "--next", "next.json", "--format", "json", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        result = run("explain", "Y[1,1]", "--loss", "sum")
        self.assertEqual((result.returncode, result.stdout), (2, b""))
        self.assertIn(b"--loss", result.stderr)
        self.assertEqual(run("explain", "dY[1,1]", "Y[1,1]", "--loss", "sum").returncode, 0)

    def test_nothing_that_the_problem_names_is_written_over(self):
        os.symlink("X.csv.npz", self.path("link.txt"))
        for name, arguments in WRITING.items():
            for target in ("files.json", "link.txt", "X.csv.npz"):
                before = {file: self.read(file) for file in ("files.json", "X.csv.npz")}
                named = [] if name in ("run", "gradient") else ["--format", "text"]
                result = run(*arguments, *named, "-o", target, cwd=self.folder)
                self.assertEqual(result.returncode, 2, (name, target))
                self.assertIn(b"is what this run reads", result.stderr, (name, target))
                self.assertEqual(before, {file: self.read(file) for file in before}, name)
        for arguments in (["explain", "X.json", "dX[1,1]"], ["gradient", "X.json"]):
            result = run(*arguments, "--loss", "mse:T.json", "-o", "T.json", cwd=self.folder)
            self.assertEqual(result.returncode, 2)
            self.assertIn(b"is what this run reads", result.stderr)

    def test_nothing_that_is_read_of_a_class_is_written_over(self):
        student = os.path.join("class", "anna")
        os.makedirs(self.path(student))
        os.rename(self.path("X.csv.npz"), self.path(os.path.join(student, "X.csv.npz")))
        for name, file in (("problem.json", "files.json"), ("answer.json", "a.json")):
            os.rename(self.path(file), self.path(os.path.join(student, name)))
        self.write(os.path.join("class", "index.csv"), "folder,name\nanna,Anna\n")
        read = [os.path.join(student, name) for name in ("X.csv.npz", "problem.json", "answer.json")]
        for target in (*read, os.path.join("class", "index.csv")):
            before = self.read(target)
            result = run("check", "class", "--format", "csv", "-o", target, cwd=self.folder)
            self.assertEqual(result.returncode, 2, target)
            self.assertIn(b"is what this run reads", result.stderr, target)
            self.assertEqual(before, self.read(target), target)
        self.write(os.path.join(student, "problem.json"), "{")  # which is one student's trouble
        self.assertEqual(run("check", "class", "-o", "grades.csv", cwd=self.folder).returncode, 2)
        self.assertIn(b"Anna,unusable,", self.read("grades.csv"))

    def test_what_an_option_has_no_say_in_is_refused(self):
        for arguments, words in ((["check", "worked", "a.json", "--as", "Y"], "no answer is one"),
                                 (["check", "worked", "a.json", "--summary", "--format", "gradescope"], "leave one out"),
                                 (["mistakes", "--layers", "1"], "name one")):
            result = run(*arguments, cwd=self.folder)
            self.assertEqual((result.returncode, result.stdout), (2, b""), arguments)
            self.assertIn(words, result.stderr.decode())

    def test_an_example_is_written_as_json(self):
        worked = run("examples", "worked").stdout
        for arguments in (["-o", "mine.json"], ["-o", "mine"], ["-o", "mine.txt", "--format", "json"]):
            self.assertEqual(run("examples", "worked", *arguments, cwd=self.folder).stdout, b"")
            self.assertEqual(self.read(arguments[1]), worked)
        for arguments in (["-o", "page.txt"], ["--format", "html"]):
            result = run("examples", "worked", *arguments, cwd=self.folder)
            self.assertEqual(result.returncode, 2)
            self.assertIn(b"json", result.stderr)
            self.assertFalse(os.path.exists(self.path("page.txt")))

    def test_an_ending_says_what_is_written_or_is_refused(self):
        for name, arguments in {**WRITING, "models": ["models"], "examples": ["examples"], "devices": ["devices"]}.items():
            for target in ("x.npz" if name not in ("run", "gradient") else "x.foo", "x.tar.foo", ".x.foo"):
                result = run(*arguments, "-o", target, cwd=self.folder)
                self.assertEqual(result.returncode, 2, (name, target))
                self.assertRegex(result.stderr.decode(), r"-o '.*': the ending says what to write; known are \.txt \(", name)
                self.assertFalse(os.path.exists(self.path(target)), name)
            result = run(*arguments, "-o", "/dev/stdout", cwd=self.folder)
            self.assertIn(result.returncode, (0, 1), (name, result.stderr))
            self.assertTrue(result.stdout, name)
            if name == "devices":
                continue
            written = run(*arguments, "--format", "text", "-o", "x.foo", cwd=self.folder)
            self.assertIn(written.returncode, (0, 1), (name, written.stderr))
            self.assertTrue(self.read("x.foo"), name)
            os.remove(self.path("x.foo"))
        self.assertEqual(run("inspect", "-o", "page", cwd=self.folder).returncode, 0)
        self.assertTrue(self.read("page"))


class Room(InFolder):
    def page(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.decode()

    def widest(self, page):
        return max(len(line) for line in page.splitlines())

    # Record by record where the numbers of a row do not fit, side by side where the page is as wide.
    def test_tables_that_are_wider_than_the_page(self):
        narrow = self.page("inspect", "worked", "--width", "40")
        self.assertIn("\nhead      1\nentropy   0.921\nlargest   0.523\n", narrow)
        self.assertIn("change    1.723\nrelative  0.484\n\nhead      2\n", narrow)
        self.assertLessEqual(self.widest(narrow), 40)
        long = ("inspect", "worked", "--precision", "12")
        self.assertIn("\nrelative  0.483896218517\n", self.page(*long))
        self.assertLessEqual(self.widest(self.page(*long)), 80)
        self.assertRegex(self.page(*long, "--width", "120"), r"\n   1  0\.921066933782 .*  0\.483896218517\n")

    def test_a_header_breaks_at_words_before_the_table_does(self):
        page = self.page("decode", "causal", "--width", "52")
        self.assertIn("with the", page)
        self.assertLessEqual(self.widest(page), 52)
        self.assertIn("with the cache  4\n", self.page("decode", "causal", "--width", "40"))

    # Titles, descriptions and labels are the person's.
    def test_every_sign_has_an_ascii_spelling(self):
        for name in ("worked", "packed", "stack", "block", "rotary", "grouped", "bag_zh", "cross", "padding", "induction"):
            problem = json.loads(run("examples", name).stdout)
            for key in ("title", "description", "tokens", "tokens_kv"):
                problem.pop(key, None)
            for layer in [problem, *problem.get("layers", [])]:
                for head in layer.get("heads", []):
                    head.pop("name", None)
            path = self.write(name + ".json", json.dumps(problem))
            for arguments in (["run", path], ["gradient", path, "--loss", "sum", "--with-forward"], ["inspect", path],
                              ["mistakes", path], ["decode", path], ["shapes", path], ["cost", path], ["explain", path, "Y[1,1]", "--depth", "all"],
                              ["compare", path, "--mistake", "no_scale"], ["compare", path, "--as-one-head"],
                              ["run", path, "--round", "3"], ["gradient", path, "--loss", "sum", "--against", "difference"]):
                page = run(*arguments, "--ascii").stdout.decode().replace(self.folder, "")
                foreign = [line for line in page.splitlines() if not line.isascii()]
                self.assertEqual(foreign, [], arguments)


if __name__ == "__main__":
    unittest.main()
