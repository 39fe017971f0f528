"""mha check on the real binary: what goes in, what comes out in each format, and the exit codes."""

import copy
import csv
import io
import itertools
import json
import math
import os
import pty
import random
import struct
import subprocess
import tempfile
import unittest

import numpy
from pathlib import Path

from mha import MHA, environment, run

SIGNS = {"wrong": 1, "right": 0, "unusable": 2, "incomplete": 1}


def trace_of(*arguments):
    result = run("run", *arguments, "--format", "json")
    assert result.returncode == 0, result.stderr.decode()
    return json.loads(result.stdout)


WORKED = trace_of("worked")


def unscaled(trace):
    """The trace of somebody who forgot the scale and worked on to the weights."""
    wrong = copy.deepcopy(trace)
    for head in wrong["heads"]:
        head["scaled"] = head["scores"]
        del head["weights"], head["head_output"]
    del wrong["concat"], wrong["output"]
    return wrong


class InFolder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    def report(self, *arguments, problem="worked"):
        result = run("check", problem, *arguments, "--format", "json")
        report = json.loads(result.stdout)
        self.assertEqual(result.returncode, max(SIGNS[answer["verdict"]] for answer in report["answers"]))
        return report["answers"]

    def verdict(self, content, *arguments, problem="worked"):
        """Of one answer, given as text or as what json makes of it."""
        return self.report(self.write("answer.json", content), *arguments, problem=problem)[0]["verdict"]


class Told(InFolder):
    """Mistakes that are recognised from the numbers given, and two at once."""

    def page(self, answer, *arguments, problem="worked"):
        return " ".join(run("check", problem, self.write("answer.json", answer), *arguments).stdout.decode().split())

    def test_dropout_is_told_with_its_share(self):
        wrong = copy.deepcopy(WORKED)
        for head in wrong["heads"]:
            del head["head_output"]
            head["weights"] = [[0 if i == j else weight / 0.8 for j, weight in enumerate(row)]
                               for i, row in enumerate(head["weights"])]
        del wrong["concat"], wrong["output"]
        self.assertEqual(self.report(self.write("answer.json", wrong))[0]["mistakes"], ["dropout"])
        self.assertIn("(dropout; p = 0.2)", self.page(wrong, "--lang", "en"))

    def test_dropout_of_weights_that_are_almost_0(self):
        problem = self.write("problem.json", {"X": [[1, 0], [0, 1], [1, 1]], "W_O": "identity", "heads": [
            {"W_Q": [[3, 0], [0, 6]], "W_K": [[2, 0], [0, 1]], "W_V": [[1, 0], [0, 1]]}]})
        A = numpy.array(json.loads(run("run", problem, "--format", "json").stdout)["heads"][0]["weights"])
        self.assertTrue(0.0005 < numpy.sort(A, None)[0] < 0.005 or A.min() < 0.02)
        for kept in itertools.product((0, 1), repeat=3):
            keep = numpy.array([[1, 1, 0], [0, 1, 1], kept])
            keep[0, 1] = kept[0]  # small ones, too
            answer = {"A1": (A * keep * 2).round(4).tolist()}
            report = self.report(self.write("answer.json", answer), problem=problem)[0]
            self.assertEqual(report["mistakes"], ["dropout"], (kept, answer))

    def test_two_mistakes_of_one_output_are_told_together(self):
        # X itself for Q, K and V, and no W_O.
        problem = {"X": [[1, 0.5], [0, 2]], "W_O": [[1, 2], [3, 1]],
                   "heads": [{"W_Q": [[1, 0], [2, 1]], "W_K": [[0, 1], [1, 3]], "W_V": [[2, 1], [0, 1]]}]}
        plain = {**problem, "W_O": "identity", "heads": [{name: [[1, 0], [0, 1]] for name in ("W_Q", "W_K", "W_V")}]}
        output = trace_of(self.write("plain.json", plain))["output"]
        path = self.write("problem.json", problem)
        self.assertEqual(self.report(self.write("answer.json", {"Y": output}), problem=path)[0]["mistakes"],
                         ["no_projection", "wo_missing"])
        for language, words in (("en", "two mistakes together: "), ("zh", "两个错误同时出现：")):
            page = self.page({"Y": output}, "--lang", language, problem=path)
            self.assertIn(words, page)
            self.assertIn("no_projection + wo_missing", page)


class Exactness(InFolder):
    """As exactly as a matrix's own numbers are written and computed, and no less."""

    def head(self, step, change):
        return [[change(x) for x in row] for row in WORKED["heads"][0][step]]

    def page(self, answer, *arguments):
        return " ".join(run("check", "worked", self.write("answer.json", answer), *arguments).stdout.decode().split())

    def test_floats_are_told_in_both_languages(self):
        kinds = {"float32": lambda x: struct.unpack("f", struct.pack("f", x))[0],
                 "float16": lambda x: struct.unpack("e", struct.pack("e", x))[0]}
        for kind, nearest in kinds.items():
            answer = {"S1": WORKED["heads"][0]["scores"], "Z1": self.head("scaled", nearest), "A1": self.head("weights", nearest)}
            self.assertEqual(self.verdict(answer), "right")
            self.assertIn(f"judged as {kind} ·", self.page(answer, "--lang", "en"))
            self.assertIn(f"按 {kind} 判定", self.page(answer, "--lang", "zh"))
            answer["A1"][0][0] = nearest(answer["A1"][0][0] + 0.02)
            self.assertEqual(self.verdict(answer), "wrong")

    def test_too_few_numbers_to_show_a_kind_can_be_told(self):
        half = {"A1": [[round(a + 0.0004, 4) for a in row] for row in WORKED["heads"][0]["weights"]]}
        self.assertEqual(self.verdict(half), "wrong")
        self.assertEqual(self.verdict(half, "--dtype", "bf16"), "right")
        self.assertIn("expected bf16 or f16", run("check", "worked", "x", "--dtype", "half").stderr.decode())

    def test_decimals_are_those_of_the_matrix_and_digits_count_in_e_notation(self):
        answer = {"Z1": self.head("scaled", lambda x: round(x, 4)), "A1": self.head("weights", lambda x: round(x, 2))}
        self.assertEqual(self.verdict(answer), "right")
        self.assertIn("A⁽¹⁾: tolerance from 2 decimals", self.page(answer, "--lang", "en"))
        text = json.dumps({"A1": "@"}).replace('"@"', "[" + ", ".join(
            "[" + ", ".join(f"{x:.3e}" for x in row) + "]" for row in WORKED["heads"][0]["weights"]) + "]")
        self.assertEqual(self.verdict(text), "right")
        self.assertIn("4 significant digits", self.page(text, "--lang", "en"))
        digit = text.index(".") + 1
        self.assertEqual(self.verdict(text[:digit] + str((int(text[digit]) + 2) % 10) + text[digit + 1:]), "wrong")

    def test_a_rounded_factor_or_root_is_right_the_same_one_throughout(self):
        one = [[1, 0], [0, 1]]
        problem = self.write("problem.json", {"X": [[1, 2], [3, 4]], "heads": [{"W_Q": one, "W_K": one, "W_V": one}],
                                              "W_O": "identity"})
        scores = [[5, 11], [11, 25]]
        by_factor, by_root = ([[round(s * f, 3) for s in row] for row in scores] for f in (0.707, 1 / 1.414))
        for scaled, said in ((by_factor, "multiplied by 0.707, which is 1/√d_k"), (by_root, "divided by 1.414, which is √d_k")):
            self.assertEqual(self.verdict({"S1": scores, "Z1": scaled}, problem=problem), "right")
            page = run("check", problem, self.write("answer.json", {"S1": scores, "Z1": scaled})).stdout.decode()
            self.assertIn(said, " ".join(page.split()))
        mixed = [by_factor[0], by_root[1]]
        self.assertEqual(self.verdict({"S1": scores, "Z1": mixed}, problem=problem), "wrong")

    def test_each_head_may_have_a_factor_of_its_own(self):
        one = [[1, 0], [0, 1]]
        head = {"W_Q": one, "W_K": one, "W_V": one}
        problem = self.write("problem.json", {"X": [[1, 2], [3, 4]], "heads": [head] * 3, "W_O": "identity"})
        scores = [[5, 11], [11, 25]]
        factors = {"exactly": 2 ** -0.5, "multiplied by 0.707": 0.707, "divided by 1.414": 1 / 1.414}
        for names in itertools.product(factors, repeat=3):
            answer = {f"S{i}": scores for i in (1, 2, 3)} | {
                f"Z{i}": [[round(s * factors[name], 3) for s in row] for row in scores] for i, name in enumerate(names, 1)}
            page = " ".join(run("check", problem, self.write("answer.json", answer), "--lang", "en").stdout.decode().split())
            self.assertIn("Right:", page, names)
            for name in factors:
                self.assertEqual(name in page, name in names and name != "exactly", (name, names))
            self.assertEqual("in some heads" in page, len(set(names)) > 1, names)
            answer["Z2"][1][1] += 0.02
            self.assertEqual(self.verdict(answer, problem=problem), "wrong")

    def test_0_beside_e_notation_may_be_what_was_too_small_to_write(self):
        problem = self.write("small.json", {"X": [[1]], "heads": [{"W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}],
                                            "W_O": [[0.0001, 0.00003]]})
        self.assertEqual(self.verdict('{"Y": [[1e-04, 0]]}', problem=problem), "right")
        self.assertEqual(self.verdict('{"Y": [[1e-03, 0]]}', problem=problem), "wrong")

    def test_arrays_may_have_names_of_other_texts(self):
        heads = [head["head_output"] for head in WORKED["heads"]]
        path = self.folder / "answer.npz"
        numpy.savez(path, H1=heads[0], out2=heads[1], concat_heads=WORKED["concat"], foo=[[1.0]])
        report = self.report(path)[0]
        self.assertEqual((report["verdict"], report["given"]), ("right", 3))
        self.assertIn('"foo" names no step', run("check", "worked", path, "--lang", "en").stdout.decode())

    def test_a_rounded_factor_is_told_beside_a_mistake_too(self):
        answer = {}
        for head in WORKED["heads"]:
            scaled = [[round(score * 0.707, 3) for score in row] for row in head["scores"]]
            powers = [[math.exp(z) for z in row] for row in scaled]
            sums = [sum(column) for column in zip(*powers)]
            answer |= {f"Z{head['head']}": scaled,
                       f"A{head['head']}": [[round(p / s, 3) for p, s in zip(row, sums)] for row in powers]}
        path = self.write("answer.json", answer)
        self.assertEqual(self.report(path)[0]["mistakes"], ["softmax_columns"])
        page = " ".join(run("check", "worked", path, "--lang", "en").stdout.decode().split())
        self.assertIn("multiplied by 0.707", page)
        self.assertNotIn("put on Q", page)

    def test_what_run_rounds_is_right_with_any_decimals(self):
        large = self.write("large.json", {"X": [[123.4, -56.7], [8.9, 1011.5]], "W_O": "identity", "heads": [
            {name: [[1.25, 0.3], [-0.7, 2.1]] for name in ("W_Q", "W_K", "W_V")}]})
        for problem in ("worked", large):
            for decimals in range(13):
                with self.subTest(problem=problem, decimals=decimals):
                    self.assertEqual(self.verdict(trace_of(problem, "--round", str(decimals)), problem=problem), "right")


class Answers(InFolder):
    def test_every_trace_is_a_right_answer_to_its_own_problem(self):
        names = [line.split()[0] for line in run("examples").stdout.decode().splitlines()[1:] if line.strip()]
        names = [name for name in names if run("run", name, "--steps", "Y").returncode == 0]
        names = [name for name in names if "layers" not in trace_of(name)]  # a layer is checked by itself
        self.assertGreater(len(names), 5)
        for name in names:
            for options in ([], ["--dtype", "f32"], ["--round", "2"], ["--round", "4"], ["--with-weights"],
                            ["--steps", "weights,output"]):
                with self.subTest(name=name, options=options):
                    self.assertEqual(self.verdict(trace_of(name, *options), problem=name), "right")

    def test_flat_and_nested_ids_and_symbols(self):
        weights = [head["weights"] for head in WORKED["heads"]]
        for answer in ({"A1": weights[0], "Y": WORKED["output"]}, {"weights2": weights[1], "output": WORKED["output"]},
                       {"heads": [{"A": weights[0]}, {"weights": weights[1]}]}, {"A": weights}, {"weights": weights}):
            self.assertEqual(self.verdict(answer), "right")
        self.assertEqual(self.verdict({"A1": weights[1]}), "wrong")

    def test_numbers_that_json_does_not_have(self):
        trace = trace_of("causal") if run("run", "causal").returncode == 0 else None
        problem = run("examples", "worked").stdout.decode()
        causal = self.write("causal.json", json.dumps(json.loads(problem) | {"mask": "causal"}))
        trace = trace or trace_of(causal)
        text = json.dumps(trace_of(causal))
        for spelling in ('"-inf"', "-Infinity", "null", "-1e9", "-3.4028234663852886e+38"):
            with self.subTest(spelling=spelling):
                self.assertEqual(self.verdict(text.replace('"-inf"', spelling), problem=causal), "right")
        self.assertEqual(self.verdict(text.replace('"-inf"', "0"), problem=causal), "wrong")
        for nothing in ('"nan"', "NaN", '"inf"', "Infinity"):
            self.assertEqual(self.verdict('{"Y": [[%s, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]]}' % nothing), "wrong")

    def test_rounding(self):
        exact = WORKED["heads"][0]["weights"]
        self.assertEqual(self.verdict({"A1": [[round(a, 4) for a in row] for row in exact]}), "right")
        wrong = [[round(a, 4) for a in row] for row in exact]
        wrong[1][1] += 0.001
        self.assertEqual(self.verdict({"A1": wrong}), "wrong")
        self.assertEqual(self.verdict({"A1": wrong}, "--tol", "0.002"), "right")
        self.assertEqual(self.verdict({"A1": wrong}, "--sigfig", "2"), "right")

    def test_unusable_answers_say_what_and_where(self):
        for content, words in (("", ["empty"]), ("{", [":1:"]), ("[]", ["expected one answer"]), ("null", ["null"]),
                               ('{"Y": [[1, 2], [3]]}', ["Y[1]", "length is 1"]), ('{"Y": [[1, oh]]}', [":1:12", "oh"]),
                               ('{"Y": [[1, {"a": 1}]]}', ["Y[0][1]", "an object"]), ('{"Y": [[1e400]]}', ["1e400"]),
                               ('{"Y": [1, 2]}', ["one-dimensional", "[[1, 2]]"]), ('{"Y": []}', ["empty"]),
                               ('{"Y": [[1]], "Y": [[1]]}', ["twice"]), ('{"z": [[1]]}', ["no matrix"]),
                               ("[" * 200000, ["inside one another"])):
            with self.subTest(content=content[:40]):
                path = self.write("answer.json", content)
                result = run("check", "worked", path)
                self.assertEqual(result.returncode, 2)
                self.assertEqual(result.stdout, b"")
                message = result.stderr.decode()
                self.assertTrue(message.startswith(f"mha: {path}"), message)
                self.assertEqual(message.count("\n"), 1)
                for word in words:
                    self.assertIn(word, message)

    def test_utf16_byte_order_mark_and_crlf(self):
        path = self.folder / "answer.json"
        text = json.dumps({"Y": WORKED["output"]}, indent=1).replace("\n", "\r\n")
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
        self.assertEqual(self.report(path)[0]["verdict"], "right")
        path.write_bytes(text.encode("utf-16"))
        self.assertIn("UTF-16", run("check", "worked", path).stderr.decode())

    def test_standard_input(self):
        result = run("check", "worked", "-", input=json.dumps({"Y": WORKED["output"]}).encode())
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertEqual(run("check", "-", "-", input=b"").returncode, 2)

    def test_a_slip_in_a_name_is_told(self):
        result = run("check", "worked", self.write("a.json", {"Y": WORKED["output"], "weigths1": [[1]]}))
        self.assertEqual(result.returncode, 0)
        self.assertIn("weights1", result.stdout.decode())


    def test_steps_that_the_problem_does_not_have(self):
        one, none = {"Y": WORKED["output"], "M1": [[1]]}, {"M1": [[1, 2], [3, 4]], "packed": {"Q": [[1]]}}
        result = run("check", "worked", self.write("a.json", one))
        self.assertEqual(result.returncode, 0)
        self.assertIn("no step masked", result.stdout.decode())
        result = run("check", "worked", self.write("b.json", none))
        self.assertEqual(result.returncode, 2)
        self.assertIn("nothing in it can be judged; this problem has no step packed.Q", result.stderr.decode())

    def test_float32_traces_of_scores_that_are_far_apart_are_right(self):
        dice = random.Random(1)
        matrix = lambda rows, columns, size: [[dice.gauss(0, size) for _ in range(columns)] for _ in range(rows)]
        for round_ in range(24):
            tokens, size = dice.randint(2, 8), 10 ** (round_ / 12 - 0.5)
            heads = [{name: matrix(4, 3, size if name != "W_V" else 1) for name in ("W_Q", "W_K", "W_V")} for _ in range(2)]
            problem = {"X": matrix(tokens, 4, 1), "heads": heads, "W_O": matrix(6, 4, 1)}
            if round_ % 3:
                problem["mask"] = "causal" if round_ % 3 == 1 else {"add": matrix(tokens, tokens, size)}
            path = self.write("far.json", problem)
            trace = trace_of(path, "--dtype", "f32")
            self.assertEqual(self.verdict(trace, problem=path), "right", problem)
            row = trace["heads"][0]["weights"][0]
            row[0] += 1e-5
            self.assertEqual(self.verdict(trace, problem=path), "wrong", problem)

    def test_the_smallest_half_float_hides_a_key(self):
        trace = json.loads(run("run", "causal", "--format", "json").stdout)
        for head in trace["heads"]:
            head["masked"] = [[-65504 if entry == "-inf" else entry for entry in row] for row in head["masked"]]
        self.assertEqual(self.verdict(trace, problem="causal"), "right")


class Formats(InFolder):
    def test_json_is_the_same_for_one_as_for_many(self):
        path = self.write("wrong.json", unscaled(WORKED))
        one = self.report(path)[0]
        self.assertEqual(self.report(path, path), [one, one])
        self.assertEqual(list(one), ["name", "file", "verdict", "score", "given", "of", "first_wrong", "mistakes", "steps",
                                     "message"])
        self.assertEqual((one["name"], one["file"]), ("wrong", str(path)))
        self.assertEqual((one["score"], one["given"], one["of"]), (4 / 9, 10, 16))
        self.assertEqual(one["first_wrong"], {"step": "scaled", "head": 1})
        self.assertEqual(one["mistakes"][0], "no_scale")
        self.assertEqual(list(one["steps"][0]), ["step", "head", "verdict", "max_difference", "entries_wrong"])
        verdicts = {(step["step"], step["head"]): step["verdict"] for step in one["steps"]}
        self.assertEqual(verdicts["scores", 2], "right")
        self.assertEqual(verdicts["scaled", 2], "wrong")
        self.assertEqual(verdicts["output", None], "not_given")

    def test_what_is_right_has_no_difference(self):
        slip = copy.deepcopy(WORKED)
        slip["heads"][0]["weights"][1][1] += 0.01
        steps = {(step["step"], step["head"]): step for step in self.report(self.write("slip.json", slip))[0]["steps"]}
        self.assertEqual([steps["weights", 1]["verdict"], steps["head_output", 1]["verdict"]], ["wrong", "right"])
        self.assertGreater(steps["weights", 1]["max_difference"], 0.009)
        self.assertLess(steps["head_output", 1]["max_difference"], 1e-12)
        self.assertEqual(steps["head_output", 1]["entries_wrong"], 0)

    def test_many_answers_in_order_and_one_that_cannot_be_read(self):
        expected = []
        for i in range(40):
            verdict = ("right", "wrong", "unusable")[i % 3]
            content = {"right": WORKED, "wrong": unscaled(WORKED), "unusable": "{"}[verdict]
            self.write(f"class/{i:02}.json", content)
            expected.append((f"{i:02}.json", verdict))
        for threads in ("1", "4"):
            answers = self.report(self.folder / "class", "--threads", threads)
            self.assertEqual([(Path(a["file"]).name, a["verdict"]) for a in answers], expected)
        result = run("check", "worked", self.folder / "class")
        self.assertEqual(result.returncode, 2)
        self.assertIn("14 right · 0 incomplete · 13 wrong · 0 missing · 13 unusable", result.stdout.decode())
        self.assertEqual(result.stderr.count(b"mha: "), 13)
        self.assertNotIn(b"\x1b", result.stderr)

    def test_lines_with_names(self):
        lines = [{"name": "Anna", **WORKED}, {"name": "安", **unscaled(WORKED)}, {"Y": WORKED["output"]}]
        path = self.write("class.jsonl", "\n".join(json.dumps(line) for line in lines) + "\n")
        self.assertEqual([(a["name"], a["file"], a["verdict"]) for a in self.report(path)],
                         [("Anna", f"{path}:1", "right"), ("安", f"{path}:2", "wrong"), (f"{path}:3", f"{path}:3", "right")])

    def test_csv(self):
        paths = [self.write("a, b.json", WORKED), self.write("c.json", unscaled(WORKED)), self.folder / "none.json"]
        result = run("check", "worked", *paths, "--format", "csv")
        self.assertEqual(result.returncode, 2)
        rows = list(csv.DictReader(io.StringIO(result.stdout.decode(), newline="")))
        self.assertEqual(list(rows[0]), ["name", "verdict", "score", "given", "of", "first_wrong", "mistakes", "message"])
        self.assertEqual([row["name"] for row in rows], ["a, b", "c", "none"])
        self.assertEqual([row["verdict"] for row in rows], ["right", "wrong", "unusable"])
        self.assertEqual((rows[1]["first_wrong"], rows[1]["mistakes"].split()[0]), ("scaled", "no_scale"))
        self.assertIn("no such file", rows[2]["message"])

    def test_gradescope(self):
        path = self.write("wrong.json", unscaled(WORKED))
        result = run("check", "worked", path, "--format", "gradescope")
        self.assertEqual(result.returncode, 1)
        results = json.loads(result.stdout)
        self.assertEqual(results["score"], 4)  # Q, K, V and the scores
        self.assertEqual(results["visibility"], "visible")
        self.assertEqual([test["status"] for test in results["tests"]], ["passed"] * 4 + ["failed"] * 5)
        self.assertIn("not scaled", results["output"])
        self.assertEqual(run("check", "worked", path, path, "--format", "gradescope").returncode, 2)

    def test_hints_have_no_true_number(self):
        path = self.write("wrong.json", unscaled(WORKED))
        truth = {f"{abs(z):.3f}" for head in WORKED["heads"] for row in head["scaled"] for z in row if z != round(z)}
        self.assertTrue(truth)
        for level in ("1", "2", "3"):
            for form in ("text", "json", "csv", "gradescope"):
                text = run("check", "worked", path, "--hint", level, "--format", form).stdout.decode()
                for number in truth:
                    self.assertNotIn(number[:4], text)
                self.assertEqual("no_scale" in text, level == "3")

    def test_output_files(self):
        path, target = self.write("wrong.json", unscaled(WORKED)), self.folder / "report.json"
        result = run("check", "worked", path, "-o", target)
        self.assertEqual((result.returncode, result.stdout), (1, b""))
        self.assertEqual(json.loads(target.read_text())["answers"], self.report(path))
        self.assertEqual(run("check", "worked", path, "-o", path).returncode, 2)
        self.assertEqual(run("check", "worked", path, "-o", self.folder / "none" / "r.json").returncode, 4)
        text = self.folder / "report.txt"
        run("check", "worked", path, "-o", text, "--color", "always")
        self.assertNotIn("\x1b", text.read_text())

    def test_page(self):
        path = self.write("wrong.json", unscaled(WORKED))
        page = run("check", "worked", path).stdout.decode()
        for words in ("first wrong step is Scaled scores Z⁽¹⁾", "≠", "*", "no_scale", "wrong here", "not given"):
            self.assertIn(words, page)
        chinese = run("check", "worked", path, "--lang", "zh").stdout.decode()
        self.assertIn("此处错误", chinese)
        self.assertIn("Z⁽⁰⁾", run("check", "worked", path, "--index-base", "0").stdout.decode())
        ascii_page = run("check", "worked", path, "--ascii").stdout.decode()
        self.assertIn("Z(1)", ascii_page)
        self.assertTrue(ascii_page.replace("3×4", "").isascii(), ascii_page)  # the title is the person's


class Options(InFolder):
    def test_options_are_read_strictly(self):
        path = self.write("right.json", WORKED)
        for options in (["--tol", "nan"], ["--tol", "1e400"], ["--tol", "inf"], ["--tol", "-1"], ["--tol", ""],
                        ["--rtol", "x"], ["--sigfig", "0"], ["--sigfig", "2", "--tol", "1"], ["--hint", "4"],
                        ["--format", "xml"], ["--threads", "0"], ["--nope"]):
            with self.subTest(options=options):
                result = run("check", "worked", path, *options)
                self.assertEqual((result.returncode, result.stdout), (2, b""))
                self.assertTrue(result.stderr.startswith(b"mha: "))

    def test_a_problem_and_an_answer_are_needed(self):
        for arguments in ([], ["worked"]):
            result = run("check", *arguments)
            self.assertEqual(result.returncode, 2)
            self.assertIn(b"mha check worked answer.json", result.stderr)
        self.assertEqual(run("check", "wroked", "a.json").returncode, 2)
        (self.folder / "empty").mkdir()
        self.assertIn(b"no answers", run("check", "worked", self.folder / "empty").stderr)


class Terminal(InFolder):
    def test_progress_on_a_terminal_leaves_no_trace_elsewhere(self):
        for i in range(300):
            self.write(f"class/{i}.json", unscaled(WORKED))
        primary, secondary = pty.openpty()
        result = subprocess.run([MHA, "check", "worked", self.folder / "class", "--format", "json", "--threads", "1"],
                                env=environment(), stdout=subprocess.PIPE, stderr=secondary, timeout=300, check=False)
        os.close(secondary)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(json.loads(result.stdout)["answers"]), 300)
        shown = b""
        try:
            while chunk := os.read(primary, 4096):
                shown += chunk
        except OSError:  # how Linux tells that the other end is closed
            pass
        os.close(primary)
        if shown:  # a fast machine is done before there is anything to show
            self.assertIn(b"/300", shown)
            self.assertTrue(shown.endswith(b"\r\x1b[K"))


if __name__ == "__main__":
    unittest.main()
