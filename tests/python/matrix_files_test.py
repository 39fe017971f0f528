"""Matrices in files: what NumPy and safetensors write is read as if it stood in the problem, and what mha writes they read.

The other side of .safetensors is the package of that name where it is installed; else a few lines below that write and
read the plain form, and a test says so.
"""

import io
import itertools
import json
import os
import struct
import tempfile
import unittest
import zipfile
from pathlib import Path

import numpy

from mha import SOURCE, run

try:
    import safetensors.numpy as safetensors
except ImportError:
    safetensors = None

NUMBERS = numpy.random.default_rng(5)
X = NUMBERS.integers(-8, 9, size=(3, 4)) / 4
HEAD = {name: NUMBERS.integers(-8, 9, size=(4, 2)) / 4 for name in ("W_Q", "W_K", "W_V")}
WHOLE = NUMBERS.integers(0, 100, size=(3, 4))  # fits every type

SAFETENSORS_NAMES = {"bool": "BOOL", "uint8": "U8", "int8": "I8", "uint16": "U16", "int16": "I16", "uint32": "U32",
                     "int32": "I32", "uint64": "U64", "int64": "I64", "float16": "F16", "float32": "F32", "float64": "F64"}


def safetensors_bytes(tensors, dtypes=None):
    """The plain form of the format: 8 bytes of length, a JSON header, the data."""
    header, data = {}, b""
    for name, array in tensors.items():
        dtype = (dtypes or {}).get(name) or SAFETENSORS_NAMES[array.dtype.name]
        begin = len(data)
        data += array.tobytes()
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def write_safetensors(path, tensors):
    if safetensors:
        safetensors.save_file({name: numpy.ascontiguousarray(array) for name, array in tensors.items()}, path)
    else:
        Path(path).write_bytes(safetensors_bytes(tensors))


def read_safetensors(path):
    """The arrays and the metadata."""
    content = Path(path).read_bytes()
    length, = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8:8 + length]), content[8 + length:]
    metadata = header.pop("__metadata__")
    arrays = {}
    for name, entry in header.items():
        part = data[slice(*entry["data_offsets"])]
        arrays[name] = numpy.frombuffer(part, {"F32": "<f4", "F64": "<f8"}[entry["dtype"]]).reshape(entry["shape"])
    if safetensors:
        own = safetensors.load_file(path)
        assert own.keys() == arrays.keys() and all(numpy.array_equal(own[name], arrays[name]) for name in own)
    return arrays, metadata


def lists(value):
    """The problem with its arrays written out."""
    if isinstance(value, dict):
        return {key: lists(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [lists(entry) for entry in value]
    return value.tolist() if isinstance(value, numpy.ndarray) else value


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, problem):
        (self.folder / name).write_text(json.dumps(problem))
        return self.folder / name

    def output(self, problem, *options):
        """The trace of a problem, as bytes."""
        done = run("run", self.write("problem.json", problem), "--format", "json", "-q", *options)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout

    def assert_same(self, inline, files, *options):
        self.assertEqual(self.output(lists(inline), *options), self.output(files, *options))

    def fault_of(self, problem, *options, name="problem.json", **how):
        done = run("run", self.write(name, problem), *options, **how)
        self.assertEqual((done.returncode, done.stdout), (2, b""), done.stderr)
        message = done.stderr.decode()
        self.assertEqual(message.count("\n"), 1, message)
        self.assertTrue(message.startswith("mha: "), message)
        return message


def problem_with(x=X, **changes):
    return {"X": x, "heads": [HEAD], "W_O": "identity"} | changes


class Reading(InAFolder):
    def test_the_real_safetensors_package_is_the_other_side(self):
        if safetensors is None:
            self.skipTest("the package safetensors (PyPI) is not installed; its plain form is written by this test itself")

    def test_all_types_orders_and_layouts_of_npy(self):
        types = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
        for type_, order, layout in itertools.product(types, "<>", "CF"):
            with self.subTest(type=type_, order=order, layout=layout):
                x = numpy.asarray(WHOLE if type_[0] != "f" else WHOLE / 8, dtype=order + type_, order=layout)
                numpy.save(self.folder / "x.npy", x)
                for options in ([], ["--dtype", "f32"]):
                    self.assert_same(problem_with(x.astype("f8")), problem_with({"file": "x.npy"}, heads=[lists(HEAD)]),
                                     *options)

    def test_all_types_of_safetensors(self):
        for type_ in SAFETENSORS_NAMES:
            if type_ == "bool":
                continue
            with self.subTest(type=type_):
                x = numpy.asarray(WHOLE, dtype=type_)
                write_safetensors(self.folder / "x.safetensors", {"other": HEAD["W_Q"], "a.x": x})
                for options in ([], ["--dtype", "f32"]):
                    self.assert_same(problem_with(x.astype("f8")),
                                     problem_with({"file": "x.safetensors", "tensor": "a.x"}, heads=[lists(HEAD)]), *options)

    def test_every_half_and_every_bfloat(self):
        bits = numpy.arange(65536, dtype="<u2")
        halves = bits.view("<f2").astype("f8")
        with numpy.errstate(invalid="ignore"):
            brains = (bits.astype("<u4") << 16).view("<f4").astype("f8")
        for values, dtype in ((halves, "F16"), (brains, "BF16")):
            with self.subTest(dtype=dtype):
                finite = numpy.isfinite(values)
                x = values[finite][None, :]
                (self.folder / "x.safetensors").write_bytes(safetensors_bytes({"x": bits[finite][None, :]}, {"x": dtype}))
                problem = {"X": {"file": "x.safetensors", "tensor": "x"}, "W_O": "identity", "heads": [
                    {name: {"file": "w.npy"} for name in ("W_Q", "W_K", "W_V")}]}
                numpy.save(self.folder / "w.npy", numpy.zeros((x.shape[1], 1), "i1"))
                trace = json.loads(self.output(problem, "--steps", "X"))
                numpy.testing.assert_array_equal(numpy.array(trace["X"]), x)

    def test_what_savez_and_savez_compressed_write(self):
        for save in (numpy.savez, numpy.savez_compressed):
            with self.subTest(save=save.__name__):
                save(self.folder / "w.npz", x=X, **HEAD)
                files = {name: {"file": "w.npz", "name": name} for name in HEAD}
                self.assert_same(problem_with(), problem_with({"file": "w.npz", "name": "x"}, heads=[files]))

    def test_transposes_and_parts(self):
        big = NUMBERS.integers(-8, 9, size=(7, 9)) / 4
        for order in "CF":
            numpy.save(self.folder / "big.npy", numpy.asarray(big, order=order))
            for rows, cols, transpose in itertools.product((None, [2, 5]), (None, [1, 5]), (None, False, True)):
                with self.subTest(order=order, rows=rows, cols=cols, transpose=transpose):
                    x = big[slice(*rows or [None]), slice(*cols or [None])]
                    x = x.T if transpose else x
                    wanted = {"rows": rows, "cols": cols, "transpose": transpose}
                    reference = {"file": "big.npy"} | {key: value for key, value in wanted.items() if value is not None}
                    head = {name: numpy.ones((x.shape[1], 2)) for name in HEAD}
                    self.assert_same(problem_with(x, heads=[head]), problem_with(reference, heads=[lists(head)]))

    def test_vectors_batches_heads_and_masks(self):
        batch = NUMBERS.integers(-8, 9, size=(2, 3, 4)) / 4
        heads = [HEAD | {"b_Q": numpy.array([1, 2])}, {name: array + 1 for name, array in HEAD.items()}]
        masks = [{"padding": numpy.array([[1, 1, 0], [0, 1, 1]])}, {"allow": numpy.tri(3, dtype=bool)},
                 {"block": numpy.zeros((2, 2, 3, 3), "i4")}, {"add": numpy.where(numpy.tri(3) > 0, 0.5, -numpy.inf)},
                 {"alibi": {"slopes": numpy.array([0.5, 0.25])}}]
        inline = {"X": batch, "heads": heads, "W_O": NUMBERS.integers(-8, 9, size=(4, 3)) / 4, "b_O": numpy.array([1, 2, 3]),
                  "mask": masks, "rope": {"positions": numpy.array([5, 0, 7])}}
        count = itertools.count()

        def in_files(value):
            if isinstance(value, dict):
                return {key: in_files(entry) for key, entry in value.items()}
            if isinstance(value, list):
                return [in_files(entry) for entry in value]
            if not isinstance(value, numpy.ndarray):
                return value
            name = f"{next(count)}.npy"
            numpy.save(self.folder / name, value)
            return {"file": name}

        written = lists(inline)
        written["mask"][3]["add"] = [["-inf" if entry < 0 else entry for entry in row] for row in written["mask"][3]["add"]]
        files = in_files(inline)
        self.assert_same(written, files, "--with-weights")
        self.assert_same(written, files, "--batch", "2")
        self.assert_same(written, files, "--dtype", "f32")
        numpy.save(self.folder / "long.npy", numpy.arange(9))
        self.assert_same(written | {"b_O": [3, 4, 5]}, files | {"b_O": {"file": "long.npy", "rows": [3, 6]}})

    def test_a_fused_matrix_is_cut_in_its_file(self):
        fused = NUMBERS.integers(-8, 9, size=(4, 12)) / 4
        write_safetensors(self.folder / "m.safetensors", {"w": fused.astype("f4"), "wt": fused.T.astype("f4").copy()})
        for name, layout in (("w", "x@W"), ("wt", "torch")):
            inline = {"X": X, "num_heads": 2, "W_QKV": fused if name == "w" else fused.T, "W_O": "identity", "layout": layout}
            files = lists(inline) | {"W_QKV": {"file": "m.safetensors", "tensor": name}}
            self.assert_same(inline, files, "--with-weights")
            self.assert_same(inline, files, "--dtype", "f32")

    def test_pages_and_other_commands_read_them(self):
        numpy.save(self.folder / "x.npy", X)
        inline = self.write("inline.json", lists(problem_with()))
        files = self.write("files.json", lists(problem_with({"file": "x.npy"})))
        for command in (["run"], ["explain", "Y[1,1]"], ["mistakes"]):
            first, second = run(command[0], inline, *command[1:]), run(command[0], files, *command[1:])
            self.assertEqual((first.returncode, second.returncode), (0, 0), second.stderr)
            self.assertEqual(first.stdout, second.stdout)
        answer = self.folder / "answer.json"
        answer.write_bytes(run("run", inline, "--format", "json").stdout)
        self.assertEqual(run("check", files, answer).returncode, 0)
        self.assertEqual(run("compare", files, inline).returncode, 0)

    def test_paths_are_relative_to_the_problem_or_for_stdin_to_the_current_folder(self):
        numpy.save(self.folder / "x.npy", X)
        problem = lists(problem_with({"file": "./x.npy"}))
        expected = self.output(problem)
        done = run("run", "-", "--format", "json", "-q", input=json.dumps(problem).encode(), cwd=self.folder)
        self.assertEqual(done.stdout, expected)
        done = run("run", "problem.json", "--format", "json", "-q", cwd=self.folder)
        self.assertEqual(done.stdout, expected)


class Places(InAFolder):
    def setUp(self):
        super().setUp()
        (self.folder / "inner").mkdir()
        numpy.save(self.folder / "x.npy", X)
        (self.folder / "inner" / "link.npy").symlink_to(self.folder / "x.npy")

    def test_files_outside_the_folder_need_a_word(self):
        for path in ("../x.npy", str(self.folder / "x.npy"), "link.npy", "../inner/../x.npy"):
            with self.subTest(path=path):
                problem = lists(problem_with({"file": path}))
                self.assertIn("--allow-outside", self.fault_of(problem, name="inner/p.json"))
                for command in (["run"], ["explain", "Y[1,1]"], ["mistakes"], ["compare", self.folder / "inner" / "p.json"]):
                    done = run(command[0], self.folder / "inner" / "p.json", *command[1:], "--allow-outside")
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_no_ordinary_file(self):
        os.mkfifo(self.folder / "pipe.npy")
        (self.folder / "folder.npy").mkdir()
        (self.folder / "empty.npy").write_bytes(b"")
        for path, words in (("pipe.npy", "no ordinary file"), ("folder.npy", "a folder"), ("none.npy", "no such file"),
                            ("empty.npy", "no .npy array"), ("x.txt", "the ending says which"), ("", "no path"),
                            ("a\0b.npy", "no path")):
            with self.subTest(path=path):
                self.assertIn(words, self.fault_of(lists(problem_with({"file": path}))))

    def test_outputs_never_overwrite_a_matrix(self):
        problem = self.write("p.json", lists(problem_with({"file": "x.npy"})))
        before = (self.folder / "x.npy").read_bytes()
        done = run("run", problem, "--steps", "output", "-o", self.folder / "x.npy")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"is what this run reads", done.stderr)
        self.assertEqual((self.folder / "x.npy").read_bytes(), before)


class Faults(InAFolder):
    def fault_of_npy(self, content, *options):
        (self.folder / "x.npy").write_bytes(content)
        return self.fault_of(lists(problem_with({"file": "x.npy"})), *options)

    def fault_of_array(self, array, *options):
        numpy.save(self.folder / "x.npy", array)
        return self.fault_of(lists(problem_with({"file": "x.npy"})), *options)

    def fault_of_reference(self, reference):
        numpy.save(self.folder / "x.npy", X)
        numpy.save(self.folder / "v.npy", numpy.arange(4))
        numpy.savez(self.folder / "w.npz", **HEAD)
        write_safetensors(self.folder / "m.safetensors", HEAD)
        return self.fault_of(lists(problem_with(reference)))

    def test_keys_of_a_reference(self):
        for reference, words in (
                ({"file": "x.npy", "row": [0, 2]}, 'unknown key "row". Did you mean "rows"?'),
                ({"file": "x.npy", "name": "x"}, '"name" is for .npz files'),
                ({"file": "x.npy", "tensor": "x"}, '"tensor" is for .safetensors files'),
                ({"file": "w.npz"}, "It holds W_Q, W_K, W_V."),
                ({"file": "w.npz", "name": "W_q"}, 'Did you mean "W_Q"?'),
                ({"file": "w.npz", "tensor": "W_Q"}, 'here it is "name"'),
                ({"file": "m.safetensors"}, "It holds"),
                ({"file": "m.safetensors", "tensor": "W_O"}, '"W_O" is not in the file.'),
                ({"file": "x.npy", "rows": [0, 4]}, "[0, 4] is no part of x.npy; x.npy has 3 rows"),
                ({"file": "x.npy", "rows": [2, 2]}, "is no part of"),
                ({"file": "x.npy", "rows": [-1, 2]}, "is no part of"),
                ({"file": "x.npy", "cols": [0]}, "found 1 number, expected 2"),
                ({"file": "x.npy", "cols": [0, 1.5]}, "expected an integer"),
                ({"file": "x.npy", "transpose": 1}, "expected true or false"),
                ({"file": 3}, "expected a text"),
                ({"file": "v.npy"}, "one-dimensional"),
                ({"file": "v.npy", "cols": [0, 1]}, "one-dimensional"),
                ({"file": "v.npy", "transpose": True}, "one-dimensional")):
            with self.subTest(reference=reference):
                self.assertIn(words, self.fault_of_reference(reference))
        numpy.save(self.folder / "row.npy", numpy.ones((1, 2)))
        self.assertIn("an array with one axis", self.fault_of(lists(problem_with(
            heads=[HEAD | {"b_Q": {"file": "row.npy"}}]))))

    def test_entries_that_are_no_finite_numbers(self):
        for value, words in ((numpy.nan, "found nan at [1, 2] of x.npy"), (numpy.inf, "found inf"), (-numpy.inf, "found -inf")):
            for type_, options in itertools.product(("f2", "f4", "f8", ">f4"), ([], ["--dtype", "f32"])):
                with self.subTest(value=value, type=type_):
                    x = X.astype(type_)
                    x[1, 2] = value
                    self.assertIn(words, self.fault_of_array(x, *options))
                    self.assertIn(words, self.fault_of_array(numpy.asfortranarray(x), *options))

    def test_numbers_that_the_arithmetic_cannot_hold(self):
        x = X.copy()
        x[0, 1] = 1e300
        self.assertIn("found 1e+300 at [0, 1] of x.npy, which f32 cannot hold", self.fault_of_array(x, "--dtype", "f32"))
        for number, type_ in ((2**53 + 1, "i8"), (-2**53 - 1, "i8"), (2**64 - 1, "u8"), (2**63 - 1, "i8")):
            whole = WHOLE.astype(type_)
            whole[2, 3] = number
            self.assertIn(f"found {number} at [2, 3] of x.npy, an integer that no double equals", self.fault_of_array(whole))
        whole = WHOLE.astype("i8")
        whole[2, 3], whole[2, 2], whole[2, 1] = -2**63, 2**62 + 2**10, -2**53 - 2
        numpy.save(self.folder / "x.npy", whole)
        self.output(lists(problem_with({"file": "x.npy"})))

    def test_types_that_are_no_numbers(self):
        for array, words in (
                (X.astype("c16"), "complex numbers"), (X.astype("U5"), "texts"), (X.astype("S5"), "bytes of text"),
                (X.astype("O"), "Python objects"), (X.astype("M8[s]"), "dates"), (X.astype("m8[s]"), "times"),
                (X.astype("g"), "numbers of another type"), (numpy.zeros((3, 4), "V2"), "bytes without a type"),
                (numpy.zeros((3, 4), [("a", "f4")]), "records"), (X > 0, "booleans"), (numpy.float64(1), "single number"),
                (numpy.zeros((3, 0)), "holds no numbers"), (numpy.zeros((2, 2, 2, 2)), "expected one matrix")):
            with self.subTest(words=words):
                self.assertIn(words, self.fault_of_array(array))

    def test_masks_hold_zeros_and_ones(self):
        for array, words in ((numpy.full((3, 3), 2), "found 2, expected 0 or 1"), (numpy.eye(3) * numpy.nan, "found nan"),
                             (numpy.zeros((3, 2), bool), "the shape is 3×2")):
            numpy.save(self.folder / "m.npy", array)
            self.assertIn(words, self.fault_of(lists(problem_with(mask={"allow": {"file": "m.npy"}}))))
        numpy.save(self.folder / "m.npy", numpy.zeros((3, 3), bool))
        self.assertIn("booleans", self.fault_of(lists(problem_with(mask={"add": {"file": "m.npy"}}))))
        self.assertIn("does not say", self.fault_of(lists(problem_with(mask={"file": "m.npy"}))))
        content = bytearray((self.folder / "m.npy").read_bytes())
        content[-1] = 7
        (self.folder / "m.npy").write_bytes(content)
        self.assertIn("the byte of a boolean is 0 or 1",
                      self.fault_of(lists(problem_with(mask={"allow": {"file": "m.npy"}}))))

    def test_headers_of_npy(self):
        def npy(text, version=1, data=X.tobytes()):
            length = struct.pack("<H" if version == 1 else "<I", len(text))
            return b"\x93NUMPY" + bytes([version, 0]) + length + text + data

        plain = b"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }"
        for version in (1, 2, 3):
            (self.folder / "x.npy").write_bytes(npy(plain, version))
            self.assertEqual(self.output(lists(problem_with({"file": "x.npy"}))), self.output(lists(problem_with())))
        for text in (b"", b"{", b"{}", b"[]", plain[:-1], plain + b"x", plain.replace(b"False", b"0"),
                     plain.replace(b"(3, 4)", b"(3, -4)"), plain.replace(b"(3, 4)", b"(3, 4.0)"),
                     plain.replace(b"(3, 4)", b"(12)"), plain.replace(b"(3, 4)", b"[3, 4]"),
                     plain.replace(b"(3, 4)", b"(3 4)"), plain.replace(b"(3, 4)", b"(3, 4"),
                     plain.replace(b"(3, 4)", b"(99999999999999999999, 4)"),
                     plain.replace(b"(3, 4)", b"(" + b"1, " * 40 + b")"),
                     plain.replace(b"'<f8'", b"__import__('os').system('true')"), plain.replace(b"<f8", b"\\x3cf8"),
                     plain.replace(b"}", b"'shape': (3, 4)}"), plain.replace(b"}", b"'more': 1}"), b"\0" * 50):
            with self.subTest(text=text):
                self.assertIn("the plain literal that NumPy writes", self.fault_of_npy(npy(text)))
        for content, words in (
                (npy(plain, data=X.tobytes()[:-1]), "cut short: its shape and type need 96 bytes, and 95 are there"),
                (npy(plain, data=X.tobytes() + b"\0"), "too long: its shape and type need 96 bytes, and 97 are there"),
                (npy(plain)[:30], "cut short in its header"), (npy(plain)[:9], "cut short in its header"),
                (npy(plain, version=4), "version 4.0"), (npy(plain).replace(b"NUMPY", b"NUMPI"), "no .npy array"),
                (npy(plain + b" " * 80000, version=2), "more than any array of numbers needs"),
                (npy(plain.replace(b"(3, 4)", b"(4000000000, 4000000000)")), "larger than any file"),
                (npy(plain.replace(b"<f8", b"|f8")), "numbers of another type"),
                (npy(plain.replace(b"<f8", b"")), "numbers of another type")):
            with self.subTest(words=words):
                self.assertIn(words, self.fault_of_npy(content))


class ZipFaults(InAFolder):
    def fault_of_npz(self, content):
        (self.folder / "w.npz").write_bytes(content)
        return self.fault_of(lists(problem_with({"file": "w.npz", "name": "x"})))

    def archive(self, *entries, **options):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", **options) as archive:
            for name, content in entries:
                archive.writestr(name, content)
        return file.getvalue()

    def setUp(self):
        super().setUp()
        array = io.BytesIO()
        numpy.save(array, X)
        self.array = array.getvalue()
        self.good = self.archive(("x.npy", self.array), ("a.txt", b"hello"))

    def test_a_good_one(self):
        (self.folder / "w.npz").write_bytes(self.good)
        self.output(lists(problem_with({"file": "w.npz", "name": "x"})))

    def test_tricks(self):
        with self.assertWarns(UserWarning):
            twice = self.archive(("x.npy", self.array), ("x.npy", self.array))
        encrypted = bytearray(self.good)
        encrypted[6] |= 1
        encrypted[self.good.index(b"PK\x01\x02") + 8] |= 1
        damaged = bytearray(self.good)
        damaged[self.good.index(b"\x93NUMPY") + 130] ^= 1
        central = self.good.index(b"PK\x01\x02")
        lying = bytearray(self.good)
        lying[central + 24:central + 28] = struct.pack("<I", len(self.array) + 1000)
        bomb = bytearray(self.archive(("x.npy", self.array), compression=zipfile.ZIP_DEFLATED))
        for place in (bomb.index(b"PK\x01\x02") + 24, 22):
            bomb[place:place + 4] = struct.pack("<I", 4_000_000_000)
        for content, words in (
                (twice, "two entries have one name"), (bytes(encrypted), "encrypted"), (bytes(damaged), "damaged"),
                (bytes(lying), "no sound .npz file"), (bytes(bomb), "no sound .npz file"),
                (self.archive(("../x.npy", self.array)), "leads out of its folder"),
                (self.archive(("/x.npy", self.array)), "leads out of its folder"),
                (self.archive(("x.npy", self.array), compression=zipfile.ZIP_BZIP2), "another method"),
                (self.archive(("x.npy", b"hello")), "no .npy array"), (self.archive(("x.npy", b"")), "no .npy array"),
                (self.archive(("x.npy", self.array[:-1])), "cut short"), (self.archive(("x.npy", self.array + b" ")), "too long"),
                (self.archive(("x", self.array)), "There is none in it"), (b"", "no sound .npz file"),
                (b"hello", "no sound .npz file"), (self.good[:-30], "no sound .npz file"), (self.array, "no sound .npz file")):
            with self.subTest(words=words):
                self.assertIn(words, self.fault_of_npz(content))

    def test_any_damaged_byte_is_told_or_harmless(self):
        expected = None
        for place in range(0, len(self.good), 7):
            content = bytearray(self.good)
            content[place] ^= 0x55
            (self.folder / "w.npz").write_bytes(content)
            done = run("run", self.write("p.json", lists(problem_with({"file": "w.npz", "name": "x"}))), "--format", "json")
            self.assertIn(done.returncode, (0, 2), done.stderr)
            if done.returncode == 0:
                expected = expected or done.stdout
                self.assertEqual(done.stdout, expected)


class Exports(InAFolder):
    def arrays_of(self, trace):
        """The arrays of a trace in JSON under their names in binary files: their paths, heads and layers by their numbers."""
        found = {}

        def add(value, path):
            if isinstance(value, dict):
                for key, member in value.items():
                    add(member, [*path, key])
            elif isinstance(value, list) and isinstance(value[0], dict):
                for number, entry in enumerate(value, 1):
                    add(entry, [*path, str(entry.get("head", entry.get("layer", number)))])
            elif isinstance(value, list):
                found[".".join(path)] = value

        def add_masks(masks, path):
            for number, mask in enumerate(masks if isinstance(masks, list) else [masks], 1):
                add(mask, [*path, "mask", *([str(number)] if isinstance(masks, list) else [])])

        config = trace["config"]
        add({key: value for key, value in trace.items() if key != "config"}, [])
        for number, layer in enumerate(config.get("layers", []), 1):
            add_masks(layer["mask"], ["layers", str(number), "parameters"])
        if "mask" in config:
            add_masks(config["mask"], ["parameters"])
        return {name: matrix for name, matrix in found.items() if not name.endswith(("align", "slopes"))}

    def test_numpy_and_safetensors_read_what_the_json_says(self):
        problems = sorted((SOURCE / "tests" / "cases").glob("*/problem.json")) + sorted((SOURCE / "data").glob("*.json"))
        for problem, options in itertools.product(problems, ([], ["--dtype", "f32", "--with-weights"])):
            with self.subTest(problem=problem, options=options):
                outputs = [self.folder / f"t.{ending}" for ending in ("json", "npz", "safetensors")]
                done = run("run", problem, "-q", *options, *itertools.chain(*(("-o", output) for output in outputs)))
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                trace = json.loads(outputs[0].read_text())
                expected = self.arrays_of(trace)
                npz = dict(numpy.load(outputs[1]))
                tensors, metadata = read_safetensors(outputs[2])
                self.assertEqual(metadata, {"format": "mha-trace", "version": "1", "device": "cpu", "dtype": trace["dtype"]})
                self.assertEqual(list(npz), list(tensors))
                self.assertEqual(set(npz), set(expected))
                for name, array in npz.items():
                    self.assertEqual(array.dtype, numpy.dtype("f4" if trace["dtype"] == "f32" else "f8"))
                    wanted = numpy.array(expected[name]).astype("f8")  # "-inf" is −∞ here
                    numpy.testing.assert_array_equal(array, wanted.astype(array.dtype), name)
                    numpy.testing.assert_array_equal(tensors[name], array, name)
                self.assertIsNone(zipfile.ZipFile(outputs[1]).testzip())

    def test_one_array_is_a_npy_file(self):
        path = self.folder / "y.npy"
        self.assertEqual(run("run", "worked", "--steps", "output", "-o", path).returncode, 0)
        trace = json.loads(run("run", "worked", "--format", "json").stdout)
        numpy.testing.assert_array_equal(numpy.load(path), trace["output"])
        self.assertEqual(run("run", "worked", "--steps", "weights", "--heads", "2", "-o", path).returncode, 0)
        numpy.testing.assert_array_equal(numpy.load(path), trace["heads"][1]["weights"])
        numpy.testing.assert_array_equal(numpy.load(path, mmap_mode="r"), trace["heads"][1]["weights"])
        before = path.read_bytes()
        for options, words in ((["--steps", "weights"], "there are 2: heads.1.weights, heads.2.weights"),
                               ([], "there are 17"), (["--steps", "masked"], "there are 0")):
            done = run("run", "worked", *options, "-o", path)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr.decode())
            self.assertEqual(path.read_bytes(), before)
        self.assertEqual([entry.name for entry in self.folder.iterdir()], ["y.npy"])

    def test_rounding_by_hand_reaches_the_arrays(self):
        run("run", "worked", "--round", "2", "-o", self.folder / "t.npz", "-o", self.folder / "t.json")
        trace = json.loads((self.folder / "t.json").read_text())
        arrays = numpy.load(self.folder / "t.npz")
        for name, matrix in self.arrays_of(trace).items():
            numpy.testing.assert_array_equal(arrays[name], matrix, name)

    def test_the_same_run_gives_the_same_bytes_alone_or_beside_the_json(self):
        for ending in ("npz", "safetensors"):
            for name, outputs in (("a", []), ("b", ["-o", self.folder / "t.json"]), ("c", ["-o", self.folder / "p.txt"])):
                run("run", "packed", "-o", self.folder / f"{name}.{ending}", *outputs)
            first = (self.folder / f"a.{ending}").read_bytes()
            self.assertEqual((self.folder / f"b.{ending}").read_bytes(), first)
            self.assertEqual((self.folder / f"c.{ending}").read_bytes(), first)

    def test_a_trace_goes_back_in(self):
        run("run", "packed", "--with-weights", "-o", self.folder / "t.safetensors")
        problem = json.loads(run("examples", "packed").stdout)
        for key in ("W_Q", "W_K", "W_V", "W_O"):
            problem[key] = {"file": "t.safetensors", "tensor": f"parameters.{key}"}
        problem["X"] = {"file": "t.safetensors", "tensor": "X"}
        self.assertEqual(self.output(problem), run("run", "packed", "--format", "json", "-q").stdout)

    def test_what_cannot_be_written(self):
        for ending in ("npz", "safetensors"):
            done = run("run", "worked", "-o", self.folder / "none" / f"t.{ending}")
            self.assertEqual(done.returncode, 4)
            os.symlink("/dev/full", self.folder / f"full.{ending}")
            done = run("run", "worked", "-o", self.folder / f"full.{ending}")
            self.assertEqual(done.returncode, 4)
            self.assertIn(b"an ordinary file", done.stderr)


if __name__ == "__main__":
    unittest.main()
