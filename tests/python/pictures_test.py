"""The picture of the weights: what is drawn is what was computed, in the file and where a program renders it."""

import json
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib
from pathlib import Path
from xml.etree import ElementTree

from mha import run

SVG = "{http://www.w3.org/2000/svg}"


def colour(weight):
    return tuple(int(white + (full - white) * weight + 0.5) for white, full in zip((255, 255, 255), (9, 105, 218)))


def pixels(png):
    """Rows of (r, g, b) of a PNG with 8 bits for each of three or four channels (PNG specification, section 9)."""
    data, at, width, height, channels = b"", 8, 0, 0, 4
    while at < len(png):
        (length,), kind = struct.unpack(">I", png[at:at + 4]), png[at + 4:at + 8]
        if kind == b"IHDR":
            width, height, _, colours = struct.unpack(">IIBB", png[at + 8:at + 18])
            channels = {2: 3, 6: 4}[colours]
        data += png[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    data, rows, before = zlib.decompress(data), [], bytearray(width * channels)
    for start in range(0, height * (width * channels + 1), width * channels + 1):
        line = bytearray(data[start + 1:start + 1 + width * channels])
        for i, byte in enumerate(line):
            left, up, corner = (line[i - channels] if i >= channels else 0, before[i],
                                before[i - channels] if i >= channels else 0)
            guess = left + up - corner
            paeth = min((left, up, corner), key=lambda value: abs(guess - value))
            line[i] = (byte + (0, left, up, (left + up) // 2, paeth)[data[start]]) & 255
        rows.append([tuple(line[i:i + 3]) for i in range(0, len(line), channels)])
        before = line
    return rows


class Pictures(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="mha-picture-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def draw(self, *arguments):
        result = run("run", *arguments, "-o", self.folder / "maps.svg")
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return ElementTree.parse(self.folder / "maps.svg").getroot()

    @staticmethod
    def weights(*arguments):
        return [head["weights"] for head in json.loads(run("run", *arguments, "--format", "json").stdout)["heads"]]

    def cells(self, root):
        """By picture: the rectangles, row after row."""
        return [[rect for rect in picture.iter(SVG + "rect")] for picture in root.iter(SVG + "g")]

    def test_each_cell_has_the_colour_of_its_weight(self):
        for example in ("worked", "bag_zh", "large"):
            pictures, expected = self.cells(self.draw(example)), self.weights(example)
            self.assertEqual(len(pictures), len(expected))
            for rectangles, matrix in zip(pictures, expected):
                flat = [weight for row in matrix for weight in row]
                for rectangle, weight in zip(rectangles, flat, strict=True):
                    if weight > 0:
                        self.assertEqual(rectangle.get("fill"), "rgb({},{},{})".format(*colour(weight)))

    def test_hidden_keys_are_hatched_and_labels_stay_text(self):
        root = self.draw("causal")
        fills = [[rect.get("fill") for rect in picture] for picture in self.cells(root)]
        self.assertEqual([fill == "url(#hidden)" for fill in fills[0]], [j > i for i in range(4) for j in range(4)])
        words = [text.text for text in root.iter(SVG + "text")]
        for word in ("The", "cat", "sat", "down", "0.330", "Head 1 of 2"):
            self.assertIn(word, words)

    def test_lines_are_as_strong_as_the_weights(self):
        root = self.draw("worked", "--view", "lines", "--heads", "2")
        strengths = [float(line.get("stroke-opacity")) for line in root.iter(SVG + "line")]
        self.assertEqual(strengths, [round(weight, 3) for row in self.weights("worked")[1] for weight in row])
        self.assertEqual(sum(1 for _ in root.iter(SVG + "g")), 1)

    def test_large_ones_are_whole_without_values(self):
        problem = json.loads(run("examples", "worked").stdout)
        problem.pop("tokens")
        problem["X"] = [[i % 5, i % 3, i % 7, 1] for i in range(40)]
        (self.folder / "p.json").write_text(json.dumps(problem))
        root = self.draw(self.folder / "p.json")
        self.assertEqual([len(picture) for picture in self.cells(root)], [1600, 1600])
        self.assertNotIn("…", [text.text for text in root.iter(SVG + "text")])

    def test_pictures_in_a_row(self):
        for columns, places in ((1, 1), (2, 2), (4, 4)):
            root = self.draw("bag_zh", "--columns", str(columns))
            self.assertEqual(len({picture[0].get("x") for picture in root.iter(SVG + "g")}), places)

    def test_labels_are_escaped(self):
        problem = json.loads(run("examples", "worked").stdout)
        problem["tokens"] = ["<script>", "a&b", "\u202eabc"]
        (self.folder / "p.json").write_text(json.dumps(problem))
        words = [text.text for text in self.draw(self.folder / "p.json").iter(SVG + "text")]
        self.assertIn("<script>", words)
        self.assertIn("a&b", words)
        self.assertNotIn("\u202e", "".join(filter(None, words)))

    def test_a_page_without_weights_is_refused(self):
        result = run("run", "worked", "--steps", "Q", "-o", self.folder / "maps.svg")
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"no weights", result.stderr)
        self.assertFalse((self.folder / "maps.svg").exists())

    @unittest.skipUnless(shutil.which("rsvg-convert"), "needs librsvg2-bin")
    def test_rendered(self):
        rectangles = self.cells(self.draw("worked", "--heads", "1"))[0]
        subprocess.run(["rsvg-convert", self.folder / "maps.svg", "-o", self.folder / "maps.png"], check=True)
        image = pixels((self.folder / "maps.png").read_bytes())
        weights = [weight for row in self.weights("worked")[0] for weight in row]
        for rectangle, weight in zip(rectangles, weights):
            x, y = int(rectangle.get("x")) + 4, int(rectangle.get("y")) + 4  # beside the number
            self.assertLessEqual(max(abs(a - b) for a, b in zip(image[y][x], colour(weight))), 1)


if __name__ == "__main__":
    unittest.main()
