# What inputs, options and terminals do to such a tool: each row against the real binary.
import copy
import json
import os
import pty
import re
import resource
import signal
import stat
import subprocess
import tempfile
import time
import unittest
import zipfile

from mha import MHA

WORKED = json.loads(subprocess.run([MHA, "examples", "worked"], stdout=subprocess.PIPE, check=True).stdout)
PACKED = json.loads(subprocess.run([MHA, "examples", "packed"], stdout=subprocess.PIPE, check=True).stdout)


def run(*arguments, stdin=b"", env=None, **more):
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", **(env or {})}
    return subprocess.run([MHA, *arguments], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment, timeout=120, **more)


class InFolder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        return self.path(name)

    # Runs the text as a problem file and expects a refusal: exit 2, nothing on stdout, one message with these words.
    def refused(self, content, *words, arguments=()):
        name = self.write("p.json", content)
        result = run("run", name, *arguments)
        message = result.stderr.decode()
        self.assertEqual(result.returncode, 2, message)
        self.assertEqual(result.stdout, b"")
        self.assertTrue(message.startswith("mha: "), message)
        self.assertEqual(message.count("\n"), 1, message)
        for word in words:
            self.assertIn(word, message)
        return message

    def accepted(self, content, *arguments):
        result = run("run", self.write("p.json", content), "--format", "json", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return json.loads(result.stdout)


def worked(**changes):
    problem = copy.deepcopy(WORKED)
    problem.update(changes)
    return problem


def with_entry(raw):
    """The worked example with the text `raw` as X[1,2]."""
    return json.dumps(worked(X=[[1, "@", 1, 2], [0, 2, 1, 0], [1, 1, 0, 1]])).replace('"@"', raw)


class Numbers(InFolder):
    def test_what_python_writes_for_no_number(self):
        for word in ("NaN", "Infinity", "-Infinity"):
            self.refused(with_entry(word), "p.json:1:", "X[0][1]", word, "Python")

    def test_null_is_never_zero(self):
        self.refused(with_entry("null"), "X[0][1]", "null", "NaN")

    def test_overflow_has_a_place(self):
        self.refused(with_entry("1e400"), "p.json:1:", "1e400")
        self.refused(with_entry("-1e400"), "p.json:1:", "1e400")

    def test_underflow_and_subnormal_are_values(self):
        self.assertEqual(self.accepted(with_entry("1e-400"))["X"][0][1], 0)
        self.assertEqual(self.accepted(with_entry("1e-320"))["X"][0][1], 1e-320)

    def test_long_numbers_are_the_nearest_double(self):
        for text in ("9007199254740993", "123456789012345678901234567890", "0.1000000000000000055511151231257827021181"):
            self.assertEqual(self.accepted(with_entry(text))["X"][0][1], float(text))

    def test_minus_zero_stays(self):
        for text in ("-0", "-0.0"):
            self.assertEqual(str(float(self.accepted(with_entry(text))["X"][0][1])), "-0.0")

    def test_booleans_and_text_are_no_numbers(self):
        self.refused(with_entry("true"), "X[0][1]", "true")
        self.refused(with_entry('"0.5"'), "X[0][1]", "0.5")
        self.refused(with_entry('"NaN"'), "X[0][1]", "NaN")

    def test_shortest_numbers_out(self):
        third, tenth = 1 / 3, 0.1
        trace = self.accepted(json.dumps(worked(X=[[third, tenth, 1, 2], [0, 2, 1, 0], [1, 1, 0, 1]])))
        self.assertEqual(trace["X"][0][:2], [third, tenth])
        single = run("run", self.path("p.json"), "--format", "json", "--dtype", "f32", "--steps", "X").stdout.decode()
        self.assertIn("0.33333334, 0.1, 1, 2", single)


class Syntax(InFolder):
    def test_each_slip_has_line_column_and_hint(self):
        rows = [
            ('{"X": [[1, 2,]]}', "p.json:1:14", ("comma",)),
            ('{"X": [[1]],\n // note\n "W_O": 1}', "p.json:2:2", ("comment",)),
            ('{"X": [[.5]]}', "p.json:1:9", ("0.5",)),
            ('{"X": [[1.]]}', "p.json:1:", ("1.0",)),
            ('{"X": [[+1]]}', "p.json:1:9", ("+",)),
            ('{"X": [[01]]}', "p.json:1:", ("zero",)),
            (json.dumps(WORKED) + "{}", "p.json:1:", ()),
            ('{"X": [[1, 2', "p.json:1:", ()),
            ("{'X': 1}", "p.json:1:2", ()),
        ]
        for text, place, words in rows:
            with self.subTest(text[:30]):
                self.refused(text, place, *words)

    def test_depth(self):
        for text in ("[" * 200000, '{"X": ' + "[" * 200000, '{"_a":' * 100000):
            self.refused(text, "p.json:1:", "more than 64")

    def test_nothing_and_other_things_at_the_top(self):
        messages = {self.refused(text) for text in ("", "null", "[1]", "3", '"a"')}
        self.assertEqual(len(messages), 5, messages)

    def test_key_given_twice(self):
        text = json.dumps(WORKED)
        self.refused(text[:-1] + ', "X": [[1]]}', "X", "twice")
        self.refused(text.replace('"W_K"', '"W_Q"', 1), "W_Q", "twice")

    def test_encodings(self):
        text = json.dumps(WORKED)
        for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"):
            self.refused(text.encode(encoding), encoding[:6].upper(), "UTF-8")
        self.accepted(b"\xef\xbb\xbf" + text.encode())
        self.accepted(json.dumps(WORKED, indent=1).replace("\n", "\r\n"))
        self.refused(text.replace("token2", "to@ken").encode().replace(b"@", b"\xff"), "p.json:1:", "UTF-8")

    def test_unknown_keys_are_suggested(self):
        for wrong, right in (("Wq", "W_Q"), ("W_q", "W_Q"), ("wQ", "W_Q")):
            self.refused(json.dumps(WORKED).replace("W_Q", wrong), wrong, "W_Q")
        self.refused(json.dumps(WORKED).replace("W_O", "W_0"), "W_0", "W_O")
        self.refused(json.dumps(worked(maks="causal")), "maks", "mask")
        self.refused(json.dumps(worked(**{"W\u2062\U000e0041": 1})), r"W\u2062\U000e0041")
        self.refused(json.dumps(worked(heads=[None])), "heads[0]", "found null, expected a head")
        self.refused(json.dumps(worked(heads=[None, WORKED["heads"][0]])), "heads[0]", "null stands in a list of objects")

    def test_truncated_inside_a_text(self):
        for end in (b"\\", b"\\u12", b"\xe4", b"\xe8\x8b"):
            cut = b'{"title": "' + "苹果".encode() + end
            self.refused(cut, "p.json:1:11:", "never closed")
            for arguments in (("run", "-"), ("check", self.write("w.json", json.dumps(WORKED)), "-")):
                result = run(*arguments, stdin=cut)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(b"never closed", result.stdout + result.stderr)

    def test_notes_are_ignored(self):
        self.accepted(json.dumps(worked(_note=[{"deep": [1, None, "x"]}], **{"$schema": "x"})))

    def test_labels_are_checked_and_kept(self):
        labels = ["\u001b[2Ja", "b\nc", "\u202e\u2062\U000e0041d"]
        self.assertEqual(self.accepted(json.dumps(worked(tokens=labels)))["config"]["token_labels"], labels)
        page = run("run", self.path("p.json"), env={"LC_ALL": "C"}).stdout.decode()
        self.assertNotIn("\u001b", page)
        for hidden in "\u202e\u2062\U000e0041":
            self.assertNotIn(hidden, page)
        self.assertIn("\\x1b", page)


class Files(InFolder):
    def test_missing_directory_and_permission(self):
        for name, word in ((self.path("none.json"), "No such file"), (self.folder, "directory")):
            result = run("run", name)
            self.assertEqual(result.returncode, 2)
            self.assertIn(word.lower(), result.stderr.decode().lower())
            self.assertIn(name, result.stderr.decode())
        locked = self.write("locked.json", json.dumps(WORKED))
        os.chmod(locked, 0)
        if not os.access(locked, os.R_OK):  # root may read everything
            result = run("run", locked)
            self.assertEqual(result.returncode, 2)
            self.assertIn("ermission", result.stderr.decode())

    def test_what_the_system_says_is_in_chinese_as_well(self):
        for name, word, code in (("/dev/tty", "没有这个设备", 2), ("/proc/self/mem", "输入输出错误", 2), ("/proc/none.json", "不允许新建文件", 4)):
            arguments = ("run", "worked", "-o", name) if code == 4 else ("run", name)
            result = run(*arguments, "--lang", "zh", start_new_session=True)
            message = result.stderr.decode()
            self.assertEqual(result.returncode, code, message)
            self.assertIn(word, message)
            self.assertNotRegex(message, "such|device|error|directory|permi")

    def test_standard_input(self):
        result = run("run", "-", "--format", "json", stdin=json.dumps(WORKED).encode())
        self.assertEqual(json.loads(result.stdout)["title"], WORKED["title"])
        self.assertEqual(result.stderr, b"")

    def test_standard_input_is_read_once(self):
        for arguments in (["compare", "-", "-"], ["check", "-", "-"], ["check", "worked", "-", "-"]):
            result = run(*arguments, stdin=json.dumps(WORKED).encode())
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(b"standard input can be read once only", result.stderr)

    def test_brackets_are_part_of_a_name(self):
        name = self.write("[a,b].json", json.dumps(WORKED))
        for arguments in (["run", "[a,b].json", "-o", "[t].json"], ["compare", "[a,b].json", "worked"],
                          ["check", "[a,b].json", "[t].json"], ["explain", "[a,b].json", "Y[1,1]"]):
            result = run(*arguments, cwd=self.folder)
            self.assertEqual((result.returncode, result.stderr), (0, b""), arguments)
        self.assertEqual(sorted(os.listdir(self.folder)), ["[a,b].json", "[t].json"])
        self.assertTrue(os.path.exists(name))

    def test_dash_on_a_terminal_says_that_it_reads(self):
        master, slave = pty.openpty()
        process = subprocess.Popen([MHA, "run", "-"], stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertIn(b"standard input", process.stderr.readline())
        os.close(slave)
        os.close(master)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 2)

    def test_unknown_name_suggests_an_example(self):
        result = run("run", "workde")
        self.assertEqual(result.returncode, 2)
        self.assertIn("worked", result.stderr.decode())


class Meant(InFolder):
    """What is told is what went wrong, not what came of it."""

    def refused_problem(self, *words, **changes):
        return self.refused(json.dumps({**copy.deepcopy(WORKED), **changes}), *words)

    def heads(self, change, *places):
        heads = copy.deepcopy(WORKED["heads"]) + copy.deepcopy(WORKED["heads"][:1])
        for place, name in places:
            heads[place][name] = change(heads[place][name])
        return {"heads": heads, "W_O": [[1]] * 6}

    def test_a_list_that_is_not_closed_is_pointed_at(self):
        for content in ('{"X": [[1, 0], [0, 1],\n "heads": [{"W_Q": [[1]]}]}', '{"X": [[1, 0], [0, 1]\n}'):
            self.refused(content, "p.json:1:7:", "the list that begins here", "line 2", "']'")
        for cut, place in (('{"X": [[1, 0], [0, 1', "1:16:"), ('{"X": [[1, 0], [0, 1]', "1:7:"), ('{"X": [', "1:7:"),
                           ('{"heads": [{"W_Q": [[1]]}', "1:11:"), ('{"title": {"en": "a"\n', "1:11:")):
            self.refused(cut, "p.json:" + place, "begins here", "when the file ends")
        self.refused('{"X": [[1, 0,\n [0, 1]]}', "p.json:2:2:", "X[0][2]", "line 1, column 8", "the missing ']'")

    def test_one_weight_the_other_way_round(self):
        def turned(matrix):
            return [list(row) for row in zip(*matrix)]

        for places in ([(0, "W_Q"), (1, "W_Q"), (2, "W_Q")], [(1, "W_K")], [(2, "W_V")]):
            message = self.refused_problem(f"heads[{places[0][0]}].{places[0][1]}", "transpose this one",
                                           **self.heads(turned, *places))
            self.assertNotIn("layout", message)
        every = self.heads(turned, *((place, name) for place in range(3) for name in ("W_Q", "W_K", "W_V")))
        self.refused_problem("\"layout\": \"torch\"", **every)
        every["W_O"] = turned(every["W_O"])
        self.accepted(json.dumps({**WORKED, **every, "layout": "torch"}))
        every["W_O"] = turned(every["W_O"])
        message = self.refused(json.dumps({**WORKED, **every, "layout": "torch"}), "W_O", "transpose this one")
        self.assertNotIn("leave", message)

    def test_the_head_that_disagrees_is_named(self):
        for place in range(3):
            others = next(other for other in range(3) if other != place)
            message = self.refused_problem(f"heads[{place}].W_Q: ", f"heads[{others}].W_Q gives 2",
                                           **self.heads(lambda matrix: [row + [1] for row in matrix], (place, "W_Q")))
            self.assertIn("d_k = 3", message)

    def test_what_is_no_json_is_called_by_its_name(self):
        for inside, words in ((("X.npy",), "a NumPy archive"), (("[Content_Types].xml", "xl/workbook.xml"), "an Excel workbook"),
                              (("[Content_Types].xml", "word/document.xml"), "a Word document"), (("a.txt",), "a zip")):
            with zipfile.ZipFile(self.path("p.json"), "w") as archive:
                for name in inside:
                    archive.writestr(name, "x" * 100)
            with open(self.path("p.json"), "rb") as file:
                self.refused(file.read(), words, "JSON")
        self.refused(b"\x93NUMPY\x01\x00", "a NumPy array", "JSON")
        for length in (70, 400, 70000):
            self.refused(length.to_bytes(8, "little") + b'{"X": ' + b" " * length, "a .safetensors file", '"tensor"')
        for table in ("1,0,1,2\n0,2,1,0\n", "1,5;0;1;2\r\n0;2;1;0\r\n", "-1\t2\n", "step,head,row,column,value\nY,,1,1,1.7\n"):
            self.refused(table, "a table", '{"X": [[1.5, 0], [0, 1]], …}')
        self.refused("1,0\n0,2\n".encode("utf-16"), "UTF-16", "iconv")

    def test_tables_that_are_no_answers_or_matrices(self):
        message = self.refused(json.dumps(worked(X={"file": "X.csv"})), "X.file", 'np.save("X.npy", np.loadtxt("X.csv"')
        self.assertIn(".safetensors", message)
        self.refused(json.dumps(worked(X="@")).replace('"@"', "[[1,5;0,1], [2]]"), "5;0", "decimals behind a point")
        header = "step,head,row,column,value\n"
        for name, content, words in (("a.csv", (header + "output,,1,1,1.7\n").encode("utf-16"), ("UTF-16", "iconv")),
                                     ("a.csv", (header + "output,,1,1,1.7\n").encode("utf-16-le"), ("UTF-16LE", "iconv")),
                                     ("a.csv", header + "output,,1,1,1,7\n", ("a.csv:2", "1,7", "1.7")),
                                     ("a.csv", "1.7,2.6\n", ('no column "step"',))):
            result = run("check", "worked", self.write(name, content))
            self.assertEqual(result.returncode, 2)
            for word in words:
                self.assertIn(word, result.stderr.decode())
        with zipfile.ZipFile(self.path("essay.docx"), "w") as archive:
            archive.writestr("[Content_Types].xml", "x")
            archive.writestr("word/document.xml", "x")
        result = run("check", "worked", self.path("essay.docx"))
        self.assertIn("a Word document", result.stderr.decode())
        # the German Excel's table is read as it is
        german = run("check", "worked", self.write("de.csv", "step;head;row;column;value\nX;;1;1;1,0\nscores;1;1;1;1,0\n"))
        self.assertNotIn("two fields", german.stderr.decode())


class Shapes(InFolder):
    def refused_problem(self, *words, base=None, **changes):
        return self.refused(json.dumps({**copy.deepcopy(base or WORKED), **changes}), *words)

    def test_ragged_rows(self):
        self.refused_problem("X[1]", "3", "4", X=[[1, 0, 1, 2], [0, 2, 1], [1, 1, 0, 1]])

    def test_one_dimension(self):
        self.refused_problem("X", "[[1, 2, 3]]", X=[1, 2, 3])

    def test_empty(self):
        messages = {self.refused_problem("X", X=value) for value in ([], [[]], {}, None, "a", 3)}
        self.assertEqual(len(messages), 6, messages)

    def test_inner_dimensions_differ(self):
        heads = copy.deepcopy(WORKED["heads"])
        for head in heads:
            head["W_Q"] = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
        message = self.refused_problem("X", "W_Q", "3×4", heads=heads)
        self.assertIn("transpose", message.lower())

    def test_packed_columns_do_not_divide(self):
        self.refused_problem("10 columns", "4 heads", base=PACKED, num_heads=4,
                             **{key: [[1] * 10] * 8 for key in ("W_Q", "W_K", "W_V")}, W_O=[[1] * 8] * 10)

    def test_groups_must_divide(self):
        six = [{"W_Q": [[1, 0]] * 4} for _ in range(6)]
        four = [{"W_K": [[1, 0]] * 4, "W_V": [[1, 0]] * 4} for _ in range(4)]
        self.refused_problem("6", "4", "multiple", heads=six, kv_heads=four, W_O=[[1]] * 12)

    def test_masks(self):
        self.refused_problem("mask", "allow", "block", mask=[[1, 0, 0], [1, 1, 0], [1, 1, 1]])
        self.refused_problem("mask", "3×3", mask={"allow": [[1, 0], [1, 1]]})
        self.refused_problem("mask", mask={"allow": [[1, 0, 0]]})
        self.refused_problem("mask", mask={"allow": [[1, 0, 2], [1, 1, 0], [1, 1, 1]]})
        self.refused_problem("mask", mask={"padding": [1, 1]})
        self.refused_problem("casual", "causal", mask="casual")
        self.accepted(json.dumps(worked(mask={"allow": [[True, False, False], [True, True, False], [1, 1, 1]]})))
        trace = self.accepted(json.dumps(worked(mask={"add": [[0, "-inf", 1], [0, 0, 0], [0, 0, 0]]})))
        self.assertEqual(trace["heads"][0]["masked"][0][1], "-inf")

    def test_python_infinity_in_add_masks(self):
        text = json.dumps(worked(mask={"add": [[0, float("-inf"), 1], [0, 0, 0], [0, 0, 0]]}))
        self.assertEqual(self.accepted(text)["heads"][0]["weights"][0][1], 0)

    def test_output_weights(self):
        problem = worked()
        del problem["W_O"]
        self.refused(json.dumps(problem), "W_O", "identity")
        self.refused_problem("b_O", W_O="identity", b_O=[1, 1, 1, 1])
        self.refused_problem("W_O", W_O=[[1, 0], [0, 1]])

    def test_absurd_sizes(self):
        self.refused_problem("num_heads", base=PACKED, num_heads=10**18)
        self.refused_problem("num_heads", base=PACKED, num_heads=0)
        self.refused_problem("num_heads", base=PACKED, num_heads=-2)


class CommandLine(InFolder):
    def usage(self, *arguments, words=()):
        result = run(*arguments)
        message = result.stderr.decode()
        self.assertEqual(result.returncode, 2, message)
        self.assertEqual(result.stdout, b"")
        self.assertTrue(message.startswith("mha: "), message)
        for word in words:
            self.assertIn(word, message)

    def test_numbers(self):
        for value in ("-1", "nan", "1e400", "0x3", "", "3.5", "99999999999999999999"):
            self.usage("run", "--precision", value, words=("--precision",))
        ten = run("run", "--precision", "010")
        self.assertEqual(ten.returncode, 0)
        self.assertEqual(ten.stdout, run("run", "--precision", "10").stdout)

    def test_lists_are_one_argument(self):
        self.write("problem.json", json.dumps(WORKED))
        self.usage("run", "--heads", "1", "2", self.path("problem.json"), words=("write --heads 1,2",))
        for value in ("0", "3", "1,,2", "2-1", "a", ""):
            self.usage("run", "--heads", value, words=("--heads",))
        self.usage("run", "--heads", "2", "--index-base", "0", words=("--heads",))
        self.usage("run", "--steps", "wieghts", words=("weights",))

    def test_unknown_things_are_suggested(self):
        self.usage("rnu", words=("run",))
        self.usage("run", "--ful", words=("--full",))
        self.usage("examples", "packd", words=("packed",))
        self.usage("schema", "probelm", words=("problem",))

    def test_the_option_without_a_value_is_named(self):
        for arguments, name in ((("check", "worked", "a.json", "--as"), "--as"), (("run", "worked", "-o"), "--output"),
                                (("check", "worked", "a.json", "--tol"), "--tol"), (("run", "--lang"), "--lang"),
                                (("run", "--round", "2", "--round", "3"), "--round"), (("run", "--full=3"), "--full")):
            message = run(*arguments).stderr.decode()
            self.assertTrue(message.startswith(f"mha: {name}: it takes"), message)

    def test_choices(self):
        for option in ("--lang", "--color", "--dtype", "--format", "--work", "--index-base", "--width"):
            self.usage("run", option, "maybe", words=(option,))
        self.usage("run", "-o", "trace.xml", words=(".json", ".txt"))
        self.usage("run", "-o", "trace.npz", "--format", "json", words=("trace.npz", "--format json"))
        self.usage("explain", "worked", "layer.Y[1,1]", words=("layer.Y",))
        self.usage("run", "--batch", "1", words=("batch",))
        self.usage("run", "batch", "--batch", "3", words=("--batch",))

    def test_a_format_that_is_named_goes_before_the_ending(self):
        for name in ("trace.txt", "trace.dat"):
            self.assertEqual(run("run", "-o", self.path(name), "--format", "json").returncode, 0)
            with open(self.path(name), encoding="utf-8") as file:
                self.assertEqual(json.load(file)["format"], "mha-trace")

    def test_steps_that_this_problem_lacks_are_no_error(self):
        result = run("run", "--steps", "masked,packed", "--format", "json")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(sorted(json.loads(result.stdout)), ["config", "device", "dtype", "format", "rounding", "title", "version"])

    def test_help_and_version(self):
        for arguments in (["--help"], ["run", "--help"], ["examples", "--help"], ["schema", "--help"]):
            result = run(*arguments)
            self.assertEqual(result.returncode, 0)
            self.assertIn(b"mha run" if "run" in arguments or len(arguments) == 1 else b"mha " + arguments[0].encode(), result.stdout)
        self.assertRegex(run("--version").stdout.decode(), r"^mha \d+\.\d+\.\d+\n$")


class Printing(InFolder):
    def page(self, *arguments, **env):
        result = run("run", *arguments, env=env)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.decode()

    def test_no_minus_zero(self):
        tiny = worked(X=[[-0.0002, 0, 0.5, 0], [0, 2, 1, 0], [1, 1, 0, 1]])
        name = self.write("p.json", json.dumps(tiny))
        self.assertNotRegex(self.page(name, "--precision", "2"), r"-0\.00(?!\d)")

    def test_locale_changes_nothing_but_the_language(self):
        english = self.page()
        for locale in ("C", "de_DE.UTF-8", "fr_FR", "nonsense", ""):
            self.assertEqual(self.page(LC_ALL=locale), english)
        self.assertEqual(self.page(LC_ALL="zh_CN.UTF-8"), self.page("--lang", "zh"))
        self.assertNotEqual(self.page("--lang", "zh"), english)
        self.assertEqual(run("run", "--format", "json", env={"LC_ALL": "zh_CN.UTF-8"}).stdout,
                         run("run", "--format", "json").stdout)

    def test_lines_fit_the_width(self):
        wide = {"X": [[i * j % 7 + 0.25 for j in range(60)] for i in range(3)], "num_heads": 2, "W_O": "identity",
                **{key: [[(i * j) % 3 - 1 for j in range(8)] for i in range(60)] for key in ("W_Q", "W_K", "W_V")}}
        name = self.write("wide.json", json.dumps(wide))
        for width in ("40", "80", "120"):
            for line in self.page(name, "--full", "--width", width).splitlines():
                self.assertLessEqual(len(line), int(width) + line.count("\u0303"), line)

    def test_colour_only_where_it_helps(self):
        self.assertNotIn("\x1b", self.page())
        self.assertIn("\x1b[", self.page("--color", "always"))
        self.assertIn("\x1b[", self.on_terminal({}))
        self.assertNotIn("\x1b", self.on_terminal({"NO_COLOR": "1"}))
        self.assertNotIn("\x1b", self.on_terminal({"TERM": "dumb"}))
        plain = re.sub(r"\x1b\[[0-9;]*m", "", self.page("--color", "always"))
        self.assertEqual(re.sub(r" +\n", "\n", plain), self.page())

    def on_terminal(self, env, *arguments, keys=b""):
        pid, master = pty.fork()
        if pid == 0:
            os.execve(MHA, [MHA, "run", *arguments], {"TERM": "xterm-256color", **env})
        if keys:
            os.write(master, keys)
        output = b""
        try:
            while chunk := os.read(master, 65536):
                output += chunk
        except OSError:  # the terminal is gone
            pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        return output.decode()

    def test_pause_waits_on_a_terminal_and_only_there(self):
        first = self.on_terminal({}, "--pause", "--lang", "en", keys=b"q")
        self.assertIn("[Enter: next step, q: end]", first)
        everything = self.on_terminal({}, "--pause", "--lang", "en", keys=b"\n" * 60)
        self.assertGreater(everything.count("[Enter"), 10)
        self.assertLess(len(first), len(everything) / 3)
        self.assertIn("Y[1,1]", everything)
        self.assertEqual(run("run", "--pause").returncode, 2)

    def test_rows_without_a_key_are_named(self):
        name = self.write("p.json", json.dumps(worked(mask={"allow": [[1, 0, 0], [0, 0, 0], [1, 1, 1]]})))
        result = run("run", name, "--format", "json")
        self.assertEqual(result.returncode, 0)
        self.assertIn("token2", result.stderr.decode())
        self.assertEqual(json.loads(result.stdout)["heads"][0]["head_output"][1], [0, 0])
        self.assertEqual(run("run", name, "-q").stderr, b"")


class Writing(InFolder):
    def test_full_disk(self):
        with open("/dev/full", "wb") as full:
            for arguments in (["run"], ["run", "--format", "json"], ["examples"], ["schema", "trace"], ["--version"]):
                result = subprocess.run([MHA, *arguments], stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(result.returncode, 4, arguments)
                self.assertIn(b"No space left", result.stderr)

    def test_closed_pipe_is_quiet(self):
        for command in ("run", "run --format json", "schema trace", "examples packed"):
            script = f'"{MHA}" {command} 2>err | head -c 1 >/dev/null; cat err'
            for _ in range(5):
                self.assertEqual(subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, cwd=self.folder).stdout, b"")

    def test_no_file_is_left_half_written(self):
        result = run("run", "-o", self.path("none/trace.json"))
        self.assertEqual(result.returncode, 4)
        self.assertIn("none", result.stderr.decode())
        below_file = self.write("file", "x") + "/trace.json"
        self.assertEqual(run("run", "-o", below_file).returncode, 4)
        os.mkdir(self.path("d.json"))
        self.assertEqual(run("run", "-o", self.path("d.json")).returncode, 4)
        self.assertEqual(sorted(os.listdir(self.folder)), ["d.json", "file"])

    def test_a_limit_on_the_file_size_leaves_the_old_file(self):
        target = self.write("trace.json", "old")

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        result = run("run", "-o", target, preexec_fn=limit)
        self.assertEqual(result.returncode, 4, result.stderr)
        with open(target) as file:
            self.assertEqual(file.read(), "old")
        self.assertEqual(os.listdir(self.folder), ["trace.json"])

    def test_a_wrong_problem_leaves_the_old_file(self):
        target = self.write("trace.json", "old")
        name = self.write("p.json", '{"X": 1}')
        self.assertEqual(run("run", name, "-o", target).returncode, 2)
        with open(target) as file:
            self.assertEqual(file.read(), "old")

    def test_the_problem_is_never_overwritten(self):
        name = self.write("p.json", json.dumps(WORKED))
        os.link(name, self.path("hard.json"))
        os.symlink(name, self.path("soft.json"))
        for other in ("p.json", "hard.json", "soft.json", "./p.json"):
            result = run("run", name, "-o", os.path.join(self.folder, other))
            self.assertEqual(result.returncode, 2, other)
        with open(name, "rb") as file:
            result = subprocess.run([MHA, "run", "-", "-o", name], stdin=file, stderr=subprocess.PIPE)
            self.assertEqual(result.returncode, 2)
        with open(name) as file:
            self.assertEqual(json.load(file), WORKED)

    def test_files_are_replaced_whole_with_their_permissions(self):
        target = self.write("trace.json", "old")
        os.chmod(target, 0o640)
        result = run("run", "-o", target, "-o", self.path("page.txt"))
        self.assertEqual((result.returncode, result.stdout), (0, b""))
        with open(target) as file:
            self.assertEqual(json.load(file)["format"], "mha-trace")
        self.assertEqual(stat.S_IMODE(os.stat(target).st_mode), 0o640)
        with open(self.path("page.txt")) as file:
            self.assertEqual(file.read(), run("run").stdout.decode())
        self.assertEqual(sorted(os.listdir(self.folder)), ["page.txt", "trace.json"])

    def test_same_input_same_bytes(self):
        for arguments in (["run"], ["run", "bag_zh", "--lang", "zh"], ["run", "packed", "--format", "json"]):
            self.assertEqual(run(*arguments).stdout, run(*arguments).stdout)

    def test_where_one_file_fails_the_others_are_written(self):
        trace, npz = self.path("trace.json"), self.path("trace.npz")
        for arguments in (("-o", "/dev/full", "-o", trace, "-o", npz), ("-o", trace, "-o", npz, "-o", "/dev/full")):
            result = run("run", *arguments)
            self.assertEqual((result.returncode, result.stderr),
                             (4, b"mha: could not write to /dev/full: No space left on device\n"))
            self.assertEqual(sorted(os.listdir(self.folder)), ["trace.json", "trace.npz"])
            os.remove(trace)
            os.remove(npz)

    def test_where_one_file_cannot_be_opened_the_others_are_written(self):
        trace, nowhere = self.path("trace.json"), self.path("none/b.npz")
        for arguments in (("-o", nowhere, "-o", trace), ("-o", trace, "-o", nowhere), ("-o", nowhere)):
            result = run("run", *arguments)
            self.assertEqual((result.returncode, result.stdout, result.stderr.count(b"\n")), (4, b"", 1), result.stderr)
            self.assertIn(b"none/b.npz: there is no folder", result.stderr)
            if trace in arguments:
                os.remove(trace)

    def test_a_pipe_whose_reader_goes_is_a_file_that_fails(self):
        os.mkfifo(self.path("pipe.json"))
        big = self.write("p.json", json.dumps(worked(tokens=None, X=[[i % 7, i % 5, 1, 0] for i in range(120)])).replace(
            '"tokens": null, ', ""))
        script = f'head -c 1 pipe.json > /dev/null & exec "{MHA}" run {big} -o pipe.json -o trace.json'
        result = subprocess.run(["sh", "-c", script], cwd=self.folder, stderr=subprocess.PIPE, timeout=120)
        self.assertEqual((result.returncode, result.stderr), (4, b"mha: could not write to pipe.json: Broken pipe\n"))
        with open(self.path("trace.json")) as file:
            self.assertEqual(len(json.load(file)["output"]), 120)

    def test_streams_that_have_a_path(self):
        page, trace = run("run").stdout, run("run", "--format", "json").stdout
        for script, expected in (("run -o /dev/stdout | cat", page), ("run --format json -o /dev/stdout | cat", trace),
                                 ("run -o >(cat) | cat", page), ("run --format json -o >(cat) | cat", trace),
                                 ("run -o /dev/stdout > page.txt; cat page.txt", page)):
            result = subprocess.run(["bash", "-c", f'"{MHA}" {script}'], stdout=subprocess.PIPE, cwd=self.folder,
                                    env={"PATH": os.environ["PATH"], "LC_ALL": "C"}, timeout=120)
            self.assertEqual(result.stdout, expected, script)
        self.assertEqual(run("run", "-o", self.path("page")).returncode, 2)

    def test_an_interrupted_export_leaves_the_old_file_and_nothing_else(self):
        target = self.write("trace.json", "old")
        os.mkfifo(self.path("pipe.txt"))  # which nobody reads, so the run waits with its first file begun
        ignored = [signal.SIGHUP]
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = subprocess.Popen([MHA, "run", "-o", target, "-o", self.path("pipe.txt")])
            self.wait_for_files(3)
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=60), -number)
            self.assertEqual(sorted(os.listdir(self.folder)), ["pipe.txt", "trace.json"])
        process = subprocess.Popen([MHA, "run", "-o", target, "-o", self.path("pipe.txt")],
                                   preexec_fn=lambda: [signal.signal(number, signal.SIG_IGN) for number in ignored])
        self.wait_for_files(3)
        process.send_signal(signal.SIGHUP)
        with open(self.path("pipe.txt"), "rb") as pipe:
            self.assertEqual(pipe.read(), run("run").stdout)
        self.assertEqual(process.wait(timeout=60), 0)
        with open(target) as file:
            self.assertEqual(json.load(file)["format"], "mha-trace")

    def wait_for_files(self, count):
        for _ in range(6000):
            if len(os.listdir(self.folder)) == count:
                return
            time.sleep(0.01)
        self.fail(os.listdir(self.folder))

    def test_closed_descriptors_are_nobodys_file(self):
        name = self.write("p.json", json.dumps(worked(mask={"allow": [[1, 0, 0], [0, 0, 0], [1, 1, 1]]})))
        expected = run("run", name).stdout
        self.assertIn(b"token2", run("run", name).stderr)
        for closed in ("2>&-", "1>&-", "0<&-", "0<&- 1>&- 2>&-"):
            result = subprocess.run(["sh", "-c", f'"{MHA}" run "$0" -o page.txt {closed}', name], cwd=self.folder,
                                    env={"PATH": os.environ["PATH"], "LC_ALL": "C"}, stderr=subprocess.DEVNULL)
            self.assertEqual(result.returncode, 0, closed)
            with open(self.path("page.txt"), "rb") as file:
                self.assertEqual(file.read(), expected, closed)
        result = subprocess.run(["sh", "-c", f'"{MHA}" run - 0<&-'], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((result.returncode, result.stdout), (2, b""))


class WhatTheFileSystemSays(InFolder):
    def told(self, code, *arguments, words=(), **more):
        result = run(*arguments, **more)
        message = (result.stderr if result.stderr else result.stdout).decode()
        self.assertEqual(result.returncode, code, message)
        for word in words:
            self.assertIn(word, message)
        self.assertNotIn("terminate", message)
        self.assertNotIn("does not know", message)

    def test_folders_that_cannot_be_made(self):
        os.symlink("loop", self.path("loop"))
        self.write("file", "")
        roster = ("--roster", self.write("names.csv", "Anna\nBo\n"))
        for name, more, words in (("x" * 300, (), "File name too long"), ("x" * 300, roster, "File name too long"),
                                  ("loop", (), "symbolic links"), ("loop/below", roster, "symbolic links"),
                                  ("file", (), "a file has this name"), ("file", roster, "a file has this name"),
                                  ("file/below", (), "Not a directory")):
            self.told(4, "exercise", "-o", self.path(name), *more, words=("could not make the folder", words))
        for name in ("x" * 300 + ".json", "loop/t.json"):
            self.told(4, "run", "-o", self.path(name), words=("could not write to",))

    def test_a_folder_that_may_not_be_searched(self):
        os.chmod(self.folder, 0o755)
        os.mkdir(self.path("locked"))
        os.chmod(self.path("locked"), 0)
        as_nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        for arguments in (("exercise", "-o", self.path("locked/monday")), ("run", "-o", self.path("locked/t.json"))):
            try:
                self.told(4, *arguments, words=("could not",), **as_nobody)
            except PermissionError:  # nobody may not run this program at all
                pass

    def test_what_cannot_be_read(self):
        self.told(2, "exercise", "-o", self.path("class"), "--roster", self.folder, words=("this is a directory",))
        os.symlink("/proc/self/mem", self.path("answers.jsonl"))  # whose first bytes are not mapped
        self.told(2, "check", "worked", self.path("answers.jsonl"), words=("answers.jsonl", "Input/output error"))
        good = self.write("good.json", json.dumps({"output": [[0, 0, 0, 0]] * 3}))
        self.told(2, "check", "worked", self.path("answers.jsonl"), good, words=("Input/output error",))


if __name__ == "__main__":
    unittest.main()
