# mha explain on the real binary: every entry of the worked example and of several cases, the trees, the refusals.
import functools
import json
import math
import re
import unittest

from mha import SOURCE, run

CASES = ["causal_bias_dv3", "gqa_6q_2kv", "rope_half", "softcap_causal", "torch_layout", "cross_3x5", "fused_qkv_bias_3x8",
         "mask_row_without_key", "alibi_causal", "wo_identity"]
STEPS_OF_ALL_HEADS = ["X", "concat", "output"]


def case_file(name):
    return str(SOURCE / "tests" / "cases" / name / "problem.json")


def explained(*arguments):
    result = run("explain", *arguments, "--format", "json")
    assert result.returncode == 0, (arguments, result.stderr.decode())
    return json.loads(result.stdout)


@functools.cache
def trace(problem):
    return json.loads(run("run", problem, "--format", "json", "-q").stdout)


def matrices(problem):
    """The name with which each matrix of the trace is asked for, and its numbers."""
    whole = trace(problem)
    for step in STEPS_OF_ALL_HEADS:
        yield step, whole[step]
    for name, matrix in whole.get("packed", {}).items():
        yield f"packed.{name}", matrix
    for head in whole["heads"]:
        for step, matrix in head.items():
            if step not in ("head", "kv_head"):
                yield f"{step}{head['head']}", matrix


def plain(entry):
    """A⁽¹⁾[2,1] as it is typed."""
    return entry.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", "⁽⁾"))


def number(value):
    return float(value)


def nodes(entry):
    yield entry
    for operand in entry.get("operands", []):
        yield from nodes(operand)


class Entries(unittest.TestCase):
    def check_sum(self, entry):
        terms = entry.get("terms", [])
        total = 0.0
        for term in terms:
            total += number(term["value"])
            self.assertTrue(term["sum"] == total or math.isclose(number(term["sum"]), total, abs_tol=1e-12))
        if not terms:
            return
        if entry["op"] == "softmax":
            total = number(terms[entry["column"] - 1]["value"]) / total
        value = number(entry["value"])
        self.assertTrue(value == total or math.isclose(value, total, rel_tol=1e-9, abs_tol=1e-12), entry["entry"])

    def check_problem(self, problem):
        for name, matrix in matrices(problem):
            entries = explained(problem, f"{name}[*,*]")["entries"]
            self.assertEqual([number(entry["value"]) for entry in entries], [number(x) for row in matrix for x in row])
            places = [[entry["row"], entry["column"]] for entry in entries]
            self.assertEqual(places, [[i + 1, j + 1] for i, row in enumerate(matrix) for j in range(len(row))])
            for entry in entries:
                self.check_sum(entry)

    def test_run_spells_an_entry_as_explain_does(self):
        for problem in ("worked", "causal", "cross", "cached"):
            page = run("run", problem, "--heads", "1", "--lang", "en").stdout.decode()
            spelled = re.findall(r"^   (\S+\[\d,\d\]) = (.*?)(?:   .*)?$", page, re.MULTILINE)
            self.assertGreater(len(spelled), 6)
            for entry, numbers in spelled:
                whole = run("explain", problem, plain(entry), "--depth", "1", "--lang", "en").stdout.decode()
                shown = re.escape("= " + (numbers.rpartition(" = ")[0] or numbers)) + "( |\n)"
                self.assertRegex(whole, shown, (problem, entry))

    def test_worked(self):
        self.check_problem("worked")

    def test_cases(self):
        for name in CASES:
            with self.subTest(name):
                self.check_problem(case_file(name))

    def test_one_by_one(self):
        for name, matrix in matrices("worked"):
            for i, row in enumerate(matrix):
                for language in ("en", "zh"):
                    result = run("explain", "worked", f"{name}[{i + 1},{len(row)}]", "--lang", language)
                    self.assertEqual(result.returncode, 0, result.stderr.decode())
                    self.assertIn(f"[{i + 1},{len(row)}]", result.stdout.decode())


class Trees(unittest.TestCase):
    def test_all_depths_end_in_x_and_the_weights(self):
        (root,) = explained("worked", "Y[2,1]", "--depth", "all")["entries"]
        leaves = [node for node in nodes(root) if "op" not in node and "explained_before" not in node]
        for leaf in leaves:
            self.assertRegex(leaf["entry"], r"^(X|W_[QKVO])")
        self.assertEqual({leaf["entry"].split("[")[0] for leaf in leaves} >= {"X", "W_O", "W_Q⁽¹⁾", "W_V⁽²⁾"}, True)
        told = [node["entry"] for node in nodes(root) if "op" in node]
        self.assertEqual(len(told), len(set(told)))

    def test_depth_counts_steps(self):
        self.assertNotIn("operands", explained("worked", "Y[1,1]")["entries"][0])
        (root,) = explained("worked", "Y[1,1]", "--depth", "3")["entries"]
        steps = {node["step"] for node in nodes(root) if "op" in node}
        self.assertEqual(steps, {"output", "concat", "head_output"})
        page = run("explain", "Y[1,1]", "--depth", "all").stdout.decode()
        self.assertIn("X[1,1]·W_Q⁽¹⁾[1,1]", page)

    def test_shares_of_the_heads(self):
        (root,) = explained("worked", "Y[1,1]")["entries"]
        self.assertEqual(len(root["head_shares"]), 2)
        self.assertAlmostEqual(sum(root["head_shares"]), root["value"], 12)


class Options(unittest.TestCase):
    def page(self, *arguments):
        result = run("explain", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return result.stdout.decode()

    def test_the_worked_example_is_the_default(self):
        self.assertEqual(self.page("Y[1,1]"), self.page("worked", "Y[1,1]"))
        self.assertEqual(self.page("Y[1,1]"), self.page("Y[1,1]", "worked"))

    def test_index_base(self):
        self.assertIn("A⁽¹⁾[2,0] =", self.page("A1[2,0]", "--index-base", "0"))
        from_zero = explained("A1[2,0]", "--index-base", "0")["entries"][0]
        self.assertEqual((from_zero["entry"], from_zero["head"]), ("A⁽²⁾[3,1]", 2))

    def test_rounding_is_that_of_a_run(self):
        rounded = json.loads(run("run", "worked", "--round", "2", "--format", "json").stdout)
        entries = explained("worked", "Y[*,*]", "--round", "2")["entries"]
        self.assertEqual([entry["value"] for entry in entries], [x for row in rounded["output"] for x in row])
        self.assertIn("Y[1,1] ", self.page("Y[1,1]", "--round", "2"))
        self.assertRegex(self.page("A1[1,2]", "--round", "2"), r"= e\^0\.00 / \(e\^0\.71 \+ .*\n *= 1\.00 / 5\.07\n *= 0\.20\n")

    def test_single_precision(self):
        single = explained("worked", "A1[1,1]", "--dtype", "f32")
        self.assertEqual(single["dtype"], "f32")
        self.assertLess(len(str(single["entries"][0]["value"])), 12)

    def test_batch(self):
        refused = run("explain", "batch", "Y[1,1]")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("--batch", refused.stderr.decode())
        for item in (1, 2):
            entry = explained("batch", "Y[1,1]", "--batch", str(item))["entries"][0]
            self.assertEqual(entry["value"], trace("batch")["output"][item - 1][0][0])

    def test_languages_and_ascii(self):
        self.assertIn("输出投影", self.page("Y[1,1]", "--lang", "zh"))
        own = self.page("A1[1,1]", "Q1[1,1]", "--depth", "all", "--ascii", "linear").split("\n", 1)[1]
        self.assertTrue(own.isascii(), own)

    def test_masks_say_why(self):
        self.assertIn("causal: key 4", self.page("causal", "masked1[1,4]"))
        self.assertIn("因果掩码", self.page("causal", "masked1[1,4]", "--lang", "zh"))


class Refusals(unittest.TestCase):
    def refused(self, *arguments, words=()):
        result = run("explain", *arguments)
        message = result.stderr.decode()
        self.assertEqual(result.returncode, 2, message)
        self.assertEqual(result.stdout, b"")
        self.assertTrue(message.startswith("mha: "), message)
        self.assertEqual(message.count("\n"), 1, message)
        for word in words:
            self.assertIn(word, message)

    def test_places_outside(self):
        self.refused("Y[4,1]", words=("Y[4,1]", "rows 1 to 3", "columns 1 to 4"))
        self.refused("Y[0,1]", words=("rows 1 to 3",))
        self.refused("Y[3,0]", "--index-base", "0", words=("rows 0 to 2",))
        self.refused("A3[1,1]", words=("heads 1 to 2",))

    def test_names(self):
        self.refused("A[1,1]", words=("A1[1,1]",))
        self.refused("Y2[1,1]", words=("Y[1,1]",))
        self.refused("socres1[1,1]", words=('"scores1"',))
        self.refused("masked1[1,1]", words=("no step 'masked'", "weights"))

    def test_what_is_given_has_a_page_too(self):
        for arguments, symbol, value in ((["worked", "W_Q1[1,1]"], "W_Q⁽¹⁾", 1), (["worked", "W_O[1,3]"], "W_O", 1),
                                         (["worked", "W_V2[3,1]", "--index-base", "1"], "W_V⁽²⁾", 1),
                                         ([case_file("causal_bias_dv3"), "b_Q1[1]"], "b_Q⁽¹⁾", None),
                                         ([case_file("cross_3x5"), "X_kv[2,1]"], "X_kv", None),
                                         ([case_file("gqa_6q_2kv"), "W_K2[1,1]"], "W_K⁽ᵏᵛ²⁾", None),
                                         ([case_file("fused_qkv_bias_3x8"), "W_QKV[1,1]"], "W_Q", None),
                                         (["block", "norm.gamma[1]"], "γ", None), (["stack", "layer2.W_Q1[2,1]"], "W_Q⁽¹⁾", None)):
            result = run("explain", *arguments)
            self.assertEqual((result.returncode, result.stderr), (0, b""), arguments)
            self.assertIn("given, not computed", result.stdout.decode())
            self.assertIn(symbol, result.stdout.decode())
            entry, = explained(*arguments)["entries"]
            if value is not None:
                self.assertEqual(entry["value"], value)
        problem = json.loads((SOURCE / "tests/cases/causal_bias_dv3/problem.json").read_text())
        for i, number in enumerate(problem["heads"][0]["b_Q"]):
            self.assertEqual(explained(case_file("causal_bias_dv3"), f"b_Q1[{i + 1}]")["entries"][0]["value"], number)
        for i, row in enumerate(problem["heads"][1]["W_V"]):
            values = [entry["value"] for entry in explained(case_file("causal_bias_dv3"), f"W_V2[{i + 1},*]")["entries"]]
            self.assertEqual(values, row)
        self.refused("worked", "W_Q3[1,1]", words=("heads 1 to 2",))
        self.refused("worked", "W_Q1[5,1]", words=("W_Q has rows 1 to 4 and columns 1 to 2",))
        self.refused("worked", "b_Q1[1]", words=("b_Q1",))
        self.refused("worked", "Y[1]", words=("such as Y[2,1]",))

    def test_names_as_a_page_prints_them(self):
        for copied, typed in (("S⁽²⁾[1,2]", "S2[1,2]"), ("head⁽¹⁾[ 2 , 1 ]", "head1[2,1]"), ("Y[1, *]", "Y[1,*]")):
            self.assertEqual(run("explain", copied).stdout, run("explain", typed).stdout)
            self.assertEqual(run("explain", copied).returncode, 0)

    def test_words(self):
        self.refused("worked", "Y[2,1", words=("such as Y[2,1]",))
        self.refused(words=("Y[1,1]",))
        self.refused("worked", words=("entry",))
        self.refused("Y", words=("Y[1,1]",))
        self.refused("worked", "causal", "Y[1,1]", words=("one problem",))
        self.refused("wroked", "Y[1,1]", words=('"worked"',))
        self.refused("Y[1,1]", "--depth", "0", words=("--depth",))
        self.refused("Y[1,1]", "--depth", "some", words=("--depth",))


class Recomputed(unittest.TestCase):
    """What is printed gives what is printed, or says why not."""

    def page(self, *arguments, **options):
        result = run(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return " ".join(result.stdout.decode().split())

    def test_run_and_explain_divide_by_the_root(self):
        for page in (self.page("run", "worked"), self.page("explain", "worked", "Z2[1,1]")):
            self.assertIn("Z⁽²⁾ = S⁽²⁾ / √d_k", page)
            self.assertIn("√d_k = √2 = 1.414", page)
            self.assertIn("= 5 / √2 = 3.536", page)
            self.assertNotIn("0.707 = 3.536", page)

    def test_a_scale_of_the_problems_own_is_printed_in_full(self):
        problem = json.loads(run("examples", "worked").stdout) | {"scale": 0.123456789012345}
        text = json.dumps(problem).encode()
        for page in (self.page("run", "-", input=text), self.page("explain", "-", "Z2[1,1]", input=text)):
            self.assertIn("scale 0.123456789012345", page)
            self.assertIn("= 5 × 0.123456789012345 = 0.617", page)

    def test_a_page_says_what_it_rounds(self):
        line = "Computed unrounded, shown with 3 decimals; --round 3 computes as with a pencil."
        self.assertIn(line, self.page("run", "worked"))
        self.assertIn("--round 5 computes", self.page("run", "worked", "--precision", "5"))
        self.assertIn("计算时不舍入，显示 3 位小数", self.page("run", "worked", "--lang", "zh"))
        for whole in (["--steps", "scores"], ["--round", "3"], ["--steps", "X"]):
            page = self.page("run", "worked", *whole)
            self.assertNotIn("unrounded", page)
        self.assertIn("= 34.313 / 40.455 with the exponents unrounded", self.page("run", "worked"))


if __name__ == "__main__":
    unittest.main()
