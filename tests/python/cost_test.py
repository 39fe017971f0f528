# What attention costs: published numbers, formulas that give what stands beside them, and shapes that are those of a run.
import functools
import json
import random
import re
import resource
import unicodedata
import unittest

from jsonschema import Draft202012Validator

from mha import MHA, SOURCE, run

DIGITS = {"²": "**2", "³": "**3", "⁴": "**4"}


def output(*arguments):
    result = run(*arguments)
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout.decode()


@functools.cache
def page(*arguments):
    return output("cost", *arguments)


@functools.cache
def cost(*arguments):
    return json.loads(output("cost", *arguments, "--format", "json"))


@functools.cache
def published():
    return {model["name"]: model for model in json.loads(output("models", "--format", "json"))}


def value_of(text):
    """What "4·512² + 2·3" is."""
    for digit, power in DIGITS.items():
        text = text.replace(digit, power)
    return eval(text.replace("·", "*").replace(",", ""), {"__builtins__": {}})  # digits and signs alone


D512 = ["--d-model", "512", "--tokens", "128"]
BERT = ["--model", "bert-base"]


class Numbers(unittest.TestCase):
    def assert_says(self, text, *words):
        flowing = " ".join(text.split())
        for word in words:
            self.assertIn(word, flowing)

    def test_one_head_costs_as_much_as_eight(self):
        for heads in ("1", "8"):
            found = cost(*D512, "--heads", heads)
            self.assertEqual(found["parameters"]["total"], 1_048_576)
            self.assertEqual(found["totals"]["multiply_adds"], 150_994_944)
            self.assert_says(page(*D512, "--heads", heads), "1,048,576", "150,994,944",
                             "4·n·d_model² + 2·n²·d_model", "4·128·512² + 2·128²·512", "4·d_model² = 4·512²")

    def test_eight_heads_of_full_width_cost_more(self):
        for widths in (["--d-k", "512"], ["--d-k", "512", "--d-v", "512"]):
            found = cost(*D512, "--heads", "8", *widths)
            self.assertEqual(found["parameters"]["total"], 8_388_608)
            self.assertEqual(found["totals"]["multiply_adds"], 1_207_959_552)
            self.assert_says(page(*D512, "--heads", "8", *widths), "8,388,608", "1,207,959,552",
                             "is not d_model = 512: parameters and multiply-adds follow h·d_k")

    def test_bert_base(self):
        self.assertEqual(cost(*BERT, "--tokens", "128")["totals"]["multiply_adds"], 327_155_712)
        self.assert_says(page(*BERT, "--tokens", "128"), "1,769,472 + 589,824", "2,359,296", "biases 3,072 more",
                         "327,155,712")
        parameters = cost(*BERT, "--tokens", "128")["parameters"]
        self.assertEqual([parameters[name] for name in ("W_Q", "W_O", "biases", "total")], [589_824, 589_824, 3_072, 2_362_368])

    def test_bert_base_against_one_head(self):
        arguments = [*BERT, "--tokens", "512", "--dtype", "f32", "--against", "heads=1"]
        found = cost(*arguments)
        self.assertEqual(found["totals"]["multiply_adds"], 1_610_612_736)
        self.assertEqual(found["totals"]["weights_bytes"], 12_582_912)
        self.assertEqual(found["totals"]["exponentials"], 3_145_728)
        one = found["against"][0]
        self.assertEqual(one["change"], "heads=1")
        self.assertEqual([one["totals"][key] for key in ("multiply_adds", "weights_bytes", "exponentials")],
                         [1_610_612_736, 1_048_576, 262_144])
        self.assert_says(page(*arguments), "1,610,612,736", "12,582,912", "1,048,576", "3,145,728", "262,144")

    def test_caches(self):
        for name, numbers, bytes_per_token, all_tokens, matrices in (
                ("llama-2-7b", "8,192", "512 KiB", "2 GiB", "67,108,864"),
                ("llama-3-8b", "2,048", "128 KiB", "512 MiB", "41,943,040"),
                ("mistral-7b", "2,048", "128 KiB", "512 MiB", "41,943,040")):
            text = page("--model", name, "--tokens", "4096")
            self.assert_says(text, numbers, bytes_per_token, all_tokens, matrices)
            totals = cost("--model", name, "--tokens", "4096")
            self.assertEqual(totals["totals"]["cache_bytes_per_token"], 2 * int(numbers.replace(",", "")))
            self.assertEqual(totals["all_layers"]["cache_bytes_per_token"], 32 * totals["totals"]["cache_bytes_per_token"])

    def test_it_says_what_does_not_stay_equal(self):
        self.assert_says(page(*D512, "--heads", "8"), "do not grow with h", "131,072 exponentials against 16,384",
                         "rank d_k = 64 at most")
        chinese = page(*D512, "--heads", "8", "--lang", "zh")
        self.assert_says(chinese, "参数和乘加不随 h 增加", "随 h 增加：指数运算 131,072 次", "秩至多为 d_k = 64")

    def test_other_heads_are_told_with_their_width(self):
        for model, own, one in (("bert-base", 64, 768), ("gemma-7b", 256, 256)):
            self.assert_says(page("--model", model, "--tokens", "512", "--against", "heads=1"),
                             f"as it is, d_k {own} heads=1, d_k {one}")
        self.assertNotIn(", d_k", page(*BERT, "--tokens", "128", "--sweep", "tokens=1,2"))

    def test_more_heads_are_narrower_only_where_they_share_the_width(self):
        always = "More heads of less width are not always better."
        for arguments in ([*D512, "--heads", "8"], [*D512, "--heads", "8", "--sweep", "heads=1,2"]):
            self.assert_says(page(*arguments), always)
        for arguments in ([*D512, "--heads", "8", "--d-k", "512"], [*D512, "--heads", "8", "--sweep", "tokens=1,2"],
                          ["--model", "gemma-7b", "--tokens", "1", "--against", "heads=1"],
                          ["--model", "llama-3-8b", "--tokens", "64", "--sweep", "kv-heads"]):
            self.assertNotIn(always, " ".join(page(*arguments).split()), arguments)

    def test_pages_take_the_options_of_pages(self):
        for command in (["cost", "worked"], ["shapes", "worked"], ["models"], ["inspect", "worked"]):
            narrow = output(*command, "--width", "50").splitlines()
            self.assertNotEqual(narrow, output(*command).splitlines())
            self.assertIn("\x1b[", output(*command, "--color", "always"))
            if command != ["models"]:
                self.assertNotIn("─", output(*command, "--ascii"))
            self.assertNotEqual(output(*command, "--lang", "zh"), output(*command))

    def test_sweeps(self):
        sweep = cost(*BERT, "--tokens", "128", "--sweep", "heads")["sweep"]
        self.assertEqual([line["config"]["heads"] for line in sweep], [1, 2, 4, 8, 12, 16, 32, 64, 128, 256])
        self.assertEqual({line["totals"]["multiply_adds"] for line in sweep}, {327_155_712})
        self.assert_says(page(*BERT, "--tokens", "128", "--sweep", "heads"),
                         "Equal in all lines: parameters 2,362,368; multiply-adds 327,155,712")
        sweep = cost("--model", "llama-3-8b", "--tokens", "64", "--sweep", "heads")["sweep"]
        self.assertEqual([line["config"]["heads"] for line in sweep][:4], [8, 16, 32, 64])
        for sizes in (["--model", "llama-2-7b"], ["--d-model", "512", "--heads", "8"]):  # the sweep says for how many tokens
            self.assertEqual(cost(*sizes, "--sweep", "tokens=128,256"),
                             cost(*sizes, "--tokens", "128", "--sweep", "tokens=128,256"))
        self.assertEqual(len(cost("worked", "--sweep", "tokens=128,256")["sweep"]), 2)
        grouped = cost("--model", "llama-3-8b", "--tokens", "64", "--sweep", "kv-heads=8,32")["sweep"]
        self.assertEqual([line["parameters"]["total"] for line in grouped], [41_943_040, 67_108_864])


class Formulas(unittest.TestCase):
    SIZES = (["--d-model", "512", "--heads", "8", "--tokens", "128"],
             ["--d-model", "512", "--heads", "1", "--tokens", "512", "--batch", "3"],
             ["--d-model", "60", "--heads", "6", "--kv-heads", "2", "--d-k", "7", "--d-v", "9", "--tokens", "11", "--keys", "13",
              "--mlp", "17", "--bias"],
             ["--model", "gemma-7b", "--tokens", "100"], ["--model", "llama-2-70b", "--tokens", "4096"],
             ["tests/cases/block_rms_gated/problem.json"], ["tests/cases/cross_3x5/problem.json"],
             ["tests/cases/mqa_packed/problem.json"], ["tests/cases/torch_layout/problem.json"])

    def test_numbers_are_what_their_formulas_give(self):
        for sizes in self.SIZES:
            text = run("cost", *sizes, cwd=SOURCE).stdout.decode()
            rows = re.findall(r"^\S+ +\S+ +(\d+[·²][\d·²³⁴]*) +([\d,]+)$", text, re.MULTILINE)
            self.assertGreater(len(rows), 6, sizes)
            for formula, number in rows:
                self.assertEqual(value_of(formula), value_of(number), (sizes, formula))
            for work in re.findall(r"^   \S[^=\n]*=.*(?:\n +[=+] .*)*", text, re.MULTILINE):
                without_remarks = re.sub(r"(?<=\S) {3,}\S.*$", "", work, flags=re.MULTILINE)
                numbers = {value_of(part.replace(" bytes", "")) for part in " ".join(without_remarks.split()).split(" = ")[1:]
                           if re.fullmatch(r"[\d·²³⁴, +]+( bytes)?", part)}
                self.assertEqual(len(numbers), 1, (sizes, work))

    def test_counts_for_sizes_drawn_at_random(self):
        draw = random.Random(4)
        for _ in range(20):
            g, group, d, d_k, d_v, n, m, b, f, layers = (draw.randint(1, 9) for _ in range(10))
            h = g * group
            found = cost("--d-model", str(d), "--heads", str(h), "--kv-heads", str(g), "--d-k", str(d_k), "--d-v", str(d_v),
                         "--tokens", str(n), "--keys", str(m), "--batch", str(b), "--mlp", str(f), "--layers", str(layers),
                         "--dtype", "f32", "--bias")
            products = d * h * d_k + d * g * d_k + d * g * d_v + h * d_v * d + 2 * d * f
            biases = h * d_k + g * d_k + g * d_v + d + f + d
            self.assertEqual(found["parameters"]["total"], products + biases)
            self.assertEqual(found["parameters"]["biases"], biases)
            totals = found["totals"]
            self.assertEqual(totals["multiply_adds"], b * (n * (d * h * d_k + h * d_v * d + 2 * d * f)
                                                           + m * d * g * (d_k + d_v) + h * n * m * (d_k + d_v)))
            self.assertEqual(totals["exponentials"], b * h * n * m)
            self.assertEqual(totals["weights_bytes"], 4 * b * h * n * m)
            self.assertEqual(totals["cache_bytes_per_token"], 4 * g * (d_k + d_v))
            self.assertEqual(totals["all_steps_bytes"], sum(step["bytes"] for step in found["steps"]))
            self.assertEqual(found["all_layers"], {key: layers * number for key, number in totals.items()})


def shape_of(matrix):
    shape = []
    while isinstance(matrix, list):
        shape.append(len(matrix))
        matrix = matrix[0]
    return shape


class Plans(unittest.TestCase):
    CASES = sorted(path.parent for path in (SOURCE / "tests" / "cases").glob("*/problem.json"))

    def test_the_steps_and_shapes_are_those_of_a_run(self):
        for case in self.CASES:
            trace = json.loads(output("run", str(case / "problem.json"), "--format", "json"))
            found = cost(str(case / "problem.json"))
            layer = trace["layers"][0] if "layers" in trace else trace
            for step in found["steps"]:
                name, (batch, heads, rows, cols) = step["step"], step["shape"]
                self.assertEqual(step["bytes"], 8 * batch * heads * rows * cols)
                if name.startswith("packed."):
                    matrix, count = layer["packed"][name[-1]], 1
                elif name in layer:
                    matrix, count = layer[name], 1
                else:
                    shared = name in ("K", "V", "K_rot") and trace["config"].get("kv_heads", heads)
                    matrix, count = layer["heads"][0][name], shared or len(layer["heads"])
                self.assertEqual(shape_of(matrix)[-2:], [rows, cols], (case.name, name))
                if "layers" not in trace:
                    self.assertEqual(heads, count, (case.name, name))

    def test_layers_are_summed_up(self):
        found = cost(str(SOURCE / "tests" / "cases" / "layers_three_blocks" / "problem.json"))
        self.assertEqual(found["config"]["layers"], 3)
        self.assertGreater(found["all_layers"]["exponentials"], found["totals"]["exponentials"])

    def test_other_sizes_fit_wherever_a_problem_has_its_own(self):
        changes = [["--d-model", "12"], ["--heads", "1", "--kv-heads", "1"], ["--tokens", "3"], ["--batch", "4"], ["--keys", "5"],
                   ["--d-k", "7"], ["--d-v", "3"], ["--mlp", "5"], ["--bias"]]
        for case in self.CASES:
            for change in changes:
                found = cost(str(case / "problem.json"), *change)
                shapes = run("shapes", str(case / "problem.json"), *change)
                self.assertEqual(shapes.returncode, 0, (case.name, change, shapes.stderr.decode()))
                if change[0] == "--tokens":
                    self.assertEqual(found["steps"][-1]["shape"][2], 3)

    def test_nothing_is_computed(self):
        limit = {} if "asan" in str(MHA) else {  # whose own memory is large
            "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))}
        result = run("cost", "--model", "llama-3.1-405b", "--tokens", "131072", **limit)
        self.assertEqual(result.returncode, 0, result.stderr)
        for command in ("cost", "shapes"):
            self.assertEqual(run(command, "--model", "llama-2-70b", "--tokens", "4096").returncode, 0)

    def test_the_files_pass_their_schema(self):
        schema = json.loads(output("schema", "cost"))
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema)
        for arguments in (["worked"], [*BERT, "--tokens", "8", "--against", "heads=1"],
                          [*D512, "--heads", "8", "--mlp", "9", "--sweep", "heads"]):
            validator.validate(cost(*arguments))
        self.assertFalse(validator.is_valid(cost("worked") | {"more": 1}))


class Models(unittest.TestCase):
    # heads × width, query heads on a key/value head, parameters of a layer's attention without and with biases
    KNOWN = {
        "transformer-base": (512, 1, 1_048_576, 0), "bert-base": (768, 1, 2_359_296, 3_072),
        "gpt-2": (768, 1, 2_359_296, 3_072), "gpt-3": (12288, 1, 603_979_776, 49_152), "gpt-j": (4096, 1, 67_108_864, 0),
        "llama-2-7b": (4096, 1, 67_108_864, 0), "llama-2-13b": (5120, 1, 104_857_600, 0),
        "llama-2-70b": (8192, 8, 150_994_944, 0), "llama-3-8b": (4096, 4, 41_943_040, 0),
        "llama-3.1-405b": (16384, 16, 570_425_344, 0), "mistral-7b": (4096, 4, 41_943_040, 0),
        "gemma-2b": (2048, 8, 9_437_184, 0), "gemma-7b": (4096, 1, 50_331_648, 0), "gemma-3-27b": (4096, 2, 66_060_288, 0),
        "qwen2.5-7b": (3584, 7, 29_360_128, 4_608), "qwen3-0.6b": (2048, 2, 6_291_456, 0),
        "gpt-oss-20b": (4096, 8, 26_542_080, 8_000),
    }

    def test_widths_ratios_and_parameters(self):
        self.assertEqual(sorted(published()), sorted(self.KNOWN))
        for name, (width, ratio, weights, biases) in self.KNOWN.items():
            model = published()[name]
            self.assertEqual(model["heads"] * model["d_k"], width, name)
            self.assertEqual(model["heads"], ratio * model["kv_heads"], name)
            parameters = cost("--model", name, "--tokens", "2")["parameters"]
            self.assertEqual((parameters["total"] - parameters["biases"], parameters["biases"]), (weights, biases), name)
            self.assertIn(str(model["layers"]), page("--model", name, "--tokens", "2"))
            self.assertTrue(model["source"])

    def test_it_marks_widths_that_are_not_d_model(self):
        text = output("models")
        marked = {line.split()[0] for line in text.splitlines() if re.search(r"\d\*", line)}
        self.assertEqual(marked, {name for name, model in published().items()
                                  if model["heads"] * model["d_k"] != model["d_model"]})


class Shapes(unittest.TestCase):
    def test_as_pytorch_sees_them(self):
        text = output("shapes", "--d-model", "8", "--heads", "2", "--tokens", "3", "--batch", "2")
        for line in ("[2,3,8] → view [2,3,2,4] → transpose [2,2,3,4]", "[2,2,3,4] @ [2,2,4,3] → [2,2,3,3]",
                     "[2,2,3,4] → transpose [2,3,2,4] → reshape [2,3,8]"):
            self.assertIn(line, text)

    def test_groups_are_repeated(self):
        text = output("shapes", "--model", "llama-3-8b", "--tokens", "7")
        self.assertIn("[8,128,7] → repeat_interleave [32,128,7]; [32,7,128] @ [32,128,7] →\n   [32,7,7]", text)

    def test_labels_go_where_the_entries_go(self):
        text = output("shapes", "packed", "--labels")
        rows = [re.findall(r"[ab]\d+", line) for line in text.splitlines() if "⎡" in line]
        head = [f"a{i}" for i in range(1, 5)]
        self.assertEqual(rows[0], head + [f"b{i}" for i in range(1, 5)])
        self.assertIn("⎢ a5   a6   a7   a8 ⎥     ⎢ b5   b6   b7   b8 ⎥", text)
        self.assertIn("⎢ b1  b2  b3  b4 ⎥     ⎢ a9  a10  a11  a12 ⎥", text)  # reshape alone

    def test_labels_have_the_width_of_heads_with_matrices_of_their_own(self):
        for name, product, view in (("worked", "[3,4]", "[3,2,2]"), ("grouped", "[3,12]", "[3,6,2]"),
                                    ("bag_one_head_zh", "[9,4]", "[9,1,4]"), ("torch", "[3,4]", "[3,2,2]")):
            text = output("shapes", name, "--labels")
            self.assertIn(f"the product, {product}\n", text)
            self.assertIn(f"view {view}:", text)

    def test_every_example_has_shapes(self):
        for name in output("examples").splitlines()[1:]:
            for language in ("en", "zh"):
                self.assertTrue(output("shapes", name.split()[0], "--lang", language))
                self.assertTrue(output("cost", name.split()[0], "--lang", language))


class Pages(unittest.TestCase):
    def test_lines_are_80_columns_wide_at_most(self):
        commands = [["models"]]
        for name in published():
            for tokens in ("7", "131072"):
                commands += [["cost", "--model", name, "--tokens", tokens, *more]
                             for more in ([], ["--sweep", "heads"], ["--against", "tokens=1"])]
                commands.append(["shapes", "--model", name, "--tokens", tokens])
        for command in commands:
            for language in ("en", "zh"):
                for line in output(*command, "--lang", language).splitlines():
                    width = len(line) + sum(unicodedata.east_asian_width(sign) in "WF" for sign in line)
                    self.assertLessEqual(width - line.count("\u0303"), 80, (command, line))  # Q̃


    def test_the_cache_of_a_batch_is_that_of_all_its_items(self):
        for more, keys, size in (([], "4,096", "2,147,483,648 bytes = 2 GiB"), (["--batch", "8"], "8 × 4,096", "17,179,869,184 bytes = 16 GiB")):
            self.assertIn(f"The cache of {keys} keys in all layers: {size}.",
                          " ".join(page("--model", "llama-2-7b", "--tokens", "4096", *more, "--lang", "en").split()))
        self.assertIn("4 × 128 个键在所有层中的缓存：18,874,368 字节",
                      "".join(page(*BERT, "--tokens", "128", "--batch", "4", "--lang", "zh").split("\n")))

    def test_a_comparison_of_several_layers_says_of_which_it_is(self):
        for change in (["--against", "heads=3"], ["--sweep", "tokens=4,8"]):
            self.assertIn("── layer 1 ──", page("stack", *change, "--lang", "en"))
            self.assertIn("── Each layer ──", page(*BERT, "--tokens", "4", *change, "--lang", "en"))
            self.assertIn("── 每一层 ──", page(*BERT, "--tokens", "4", *change, "--lang", "zh"))
        self.assertNotIn("ayer", page("worked", "--against", "heads=1", "--lang", "en"))

    def test_an_mlp_that_is_added_to_a_model_has_biases_as_all_of_it_has(self):
        self.assertEqual(cost("--model", "gpt-2", "--tokens", "10", "--mlp", "3072")["parameters"]["biases"], 4 * 768 + 3072 + 768)
        self.assertEqual(cost("--model", "qwen2.5-7b", "--tokens", "10", "--mlp", "8")["parameters"]["biases"],
                         cost("--model", "qwen2.5-7b", "--tokens", "10")["parameters"]["biases"])

    def test_one_head_is_not_each_of_one(self):
        self.assertIn("In the one head", output("shapes", "stack", "--lang", "en"))
        self.assertIn("唯一的头", output("shapes", "stack", "--lang", "zh"))
        self.assertIn("In each of 2 heads", output("shapes", "worked", "--lang", "en"))


class Faults(unittest.TestCase):
    def test_what_does_not_fit_is_refused(self):
        for arguments, word in (
                (["--model", "bert-base"], "for how many tokens"), (["--model", "bert", "--tokens", "1"], "bert-base"),
                (["--d-model", "10", "--heads", "3", "--tokens", "1"], "--d-k"), (["--heads", "3"], "--d-model"),
                (["--d-model", "8", "--heads", "4", "--kv-heads", "3", "--tokens", "1"], "kv-heads=3"),
                (["--model", "llama-3-8b", "--tokens", "1", "--against", "heads=1"], "such as heads=1,kv-heads=1"),
                (["--model", "bert-base", "--tokens", "4", "--against", "heads=6,heads=3"], "heads stands there twice"),
                (["--d-model", "0", "--heads", "4", "--tokens", "1"], "from 1"),
                (["worked", "--model", "bert-base", "--tokens", "1"], "leave one"), (["worked", "--dtype", "f8"], "f16"),
                (["worked", "--against", "heads"], "heads=1"), (["worked", "--against", "head=1"], "heads"),
                (["worked", "--sweep", "tokens"], "tokens=128"),
                (["worked", "--sweep", "foo"], "expected tokens or d-model or heads or kv-heads or d-k or d-v or keys or batch or mlp"),
                (["worked", "--sweep", "head"], "Did you mean \"heads\"?"), (["worked", "--sweep", "heads", "--against", "heads=1"], "leave"),
                (["tests/cases/layers_worked_twice/problem.json", "--layers", "2"], "of its own (2)"),
                (["--d-model", "1048576", "--heads", "1048576", "--tokens", "200000000"], "more than"),
                (["worked", "bag_zh"], "one problem")):
            result = run("cost", *arguments, cwd=SOURCE)
            self.assertEqual((result.returncode, result.stdout), (2, b""), arguments)
            self.assertIn(word, result.stderr.decode(), arguments)
            self.assertEqual(result.stderr.count(b"\n"), 1)
        result = run("shapes", "--model", "bert-base", "--tokens", "3", "--labels")
        self.assertEqual(result.returncode, 2)


if __name__ == "__main__":
    unittest.main()
