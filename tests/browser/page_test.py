"""The page for a browser, in a real one: every number tells where it comes from, by mouse, by keys and by its address."""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
from mha import environment, run  # noqa: E402

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
AXE = next(Path(os.environ.get("MHA_AXE", "/nonexistent")).rglob("axe.min.js"), None)
EXAMPLES = sorted(path.stem for path in (Path(os.environ["MHA_SOURCE"]) / "data").glob("*.json"))
EXPLAINED = ("worked", "causal", "grouped", "rotary", "block", "stack", "packed", "gated")


class Text(HTMLParser):
    """What a reader without scripts sees, and every cell of every matrix."""

    def __init__(self, text):
        super().__init__()
        self.inside, self.words, self.cells, self.tags = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "br"):
            self.inside.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if "script" in self.inside or "style" in self.inside:
            return
        self.words.append(data)
        if self.inside and self.inside[-1] == "td":
            self.cells[-1] += data


class Pages(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="mha-page-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def page(self, *arguments, name="page.html", command="run"):
        result = run(command, *arguments, "-o", self.folder / name)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return self.folder / name

    def write(self, **changes):
        problem = json.loads(run("examples", "worked").stdout)
        path = self.folder / "problem.json"
        path.write_text(json.dumps(problem | changes), encoding="utf-8")
        return path


class Files(Pages):
    def test_all_numbers_stand_in_it_without_a_script(self):
        text = Text(self.page("worked").read_text(encoding="utf-8"))
        trace = json.loads(run("run", "worked", "--format", "json").stdout)
        for row in trace["output"]:
            for number in row:
                self.assertIn(f"{number:.3f}", text.cells)
        for cell in text.cells:
            self.assertRegex(cell, r"^(-?[0-9.]+|)$")
        self.assertIn("what each token asks for", " ".join(text.words))

    def test_only_its_own_style_and_script_are_allowed(self):
        page = self.page("worked").read_text(encoding="utf-8")
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
        for tag in ("style", "script"):
            (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.S)
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            self.assertIn(f"{tag}-src 'sha256-{digest}'", policy)
        self.assertIn("default-src 'none'", policy)
        for tag, attributes in Text(page).tags:
            self.assertFalse({"style", "src", "onclick"} & set(attributes), tag)
            self.assertTrue(attributes.get("href", "#").startswith("#"), attributes)

    def test_sizes(self):
        self.assertLess(self.page("worked").stat().st_size, 150_000)
        import numpy
        rng = numpy.random.default_rng(1)
        heads = [{name: rng.normal(size=(768, 64)).round(3).tolist() for name in ("W_Q", "W_K", "W_V")} for _ in range(12)]
        large = self.write(tokens=[f"t{i}" for i in range(128)], X=rng.normal(size=(128, 768)).round(3).tolist(), heads=heads,
                           W_O=rng.normal(size=(768, 768)).round(3).tolist())
        self.assertLess(self.page(large).stat().st_size, 2_000_000)

    def test_both_languages_stand_in_it(self):
        for command, *more in (["run", "worked"], ["run", "stack"], ["decode", "causal"], ["explain", "worked", "Y[1,1]"],
                               ["compare", "worked", "--mistake", "no_scale"], ["inspect", "bag_zh"], ["mistakes", "worked"],
                               ["shapes", "--d-model", "8", "--heads", "2", "--tokens", "3"]):
            page = self.page(*more, "--lang", "both", command=command)
            text = Text(page.read_text(encoding="utf-8"))
            ids = [attributes["id"] for _, attributes in text.tags if "id" in attributes]
            self.assertEqual(len(ids), len(set(ids)), command)
            self.assertEqual([attributes["lang"] for tag, attributes in text.tags if tag == "div" and "lang" in attributes],
                             ["en"] + ["en", "zh-CN"] * 2)
            words = "".join(text.words)
            for language in ("en", "zh"):
                alone = Text(self.page(*more, "--lang", language, name="one.html", command=command).read_text(encoding="utf-8"))
                for said in alone.words:
                    self.assertIn(said.strip(), words, command)
        self.assertLess(self.page("worked", "--lang", "both").stat().st_size, 150_000)

    def test_names_on_a_page_of_decoding_are_those_of_its_steps(self):
        text = self.page("causal", command="decode").read_text(encoding="utf-8")
        ids = [attributes["id"] for _, attributes in Text(text).tags if "id" in attributes]
        self.assertEqual(len(ids), len(set(ids)))
        data = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S)[1])["matrices"]
        steps = json.loads(run("decode", "causal", "--format", "json").stdout)["steps"]
        symbols = {"Q": "Q", "K": "K", "V": "V", "scores": "S", "scaled": "Z", "masked": "M", "weights": "A", "head_output": "head"}
        for number, step in enumerate(steps, 1):
            expected = {"Concat": step["concat"], "Y": step["output"]} | {
                f"{symbols[name]}{head['head']}": matrix for head in step["heads"] for name, matrix in head.items()
                if name in symbols}
            for name, matrix in expected.items():
                found = data[f"step{number}.{name}"]
                self.assertEqual([float(x) for x in found["x"]], [float(x) for row in matrix for x in row], (number, name))
                self.assertIn("w", found, (number, name))
            for head in (1, 2):  # the rows of a cache are those of the steps so far
                cache = data[f"step{number}.cache.K{head}"]
                rows = [row for earlier in steps[:number] for row in earlier["heads"][head - 1]["K"]]
                self.assertEqual([float(x) for x in cache["x"]], [x for row in rows for x in row])
                self.assertEqual(cache["f"], [f"step{row + 1}.K{head}:1,{column + 1}" for row in range(number)
                                              for column in range(len(rows[0]))])
        self.assertEqual([name for name in data if name.startswith("W_")], ["W_K1", "W_K2", "W_O", "W_Q1", "W_Q2", "W_V1", "W_V2"])

    def test_what_the_person_wrote_cannot_run(self):
        nasty = '</script><script>alert(1)</script><img src=x onerror=alert(2)>"\'&\u202e'
        page = self.page(self.write(title=nasty, description=nasty, tokens=[nasty + str(i) for i in range(3)]))
        text = Text(page.read_text(encoding="utf-8"))
        self.assertEqual(sum(tag == "script" for tag, _ in text.tags), 2)
        self.assertEqual(sum(tag == "img" for tag, _ in text.tags), 0)
        self.assertIn("<img src=x onerror=alert(2)>", " ".join(text.words))
        self.assertNotIn("\u202e", page.read_text(encoding="utf-8"))


@unittest.skipIf(webdriver is None or not CHROMIUM or not DRIVER, "needs chromium, chromium-driver and python3-selenium")
class InABrowser(Pages):
    @classmethod
    def setUpClass(cls):
        options = webdriver.ChromeOptions()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                         "--disable-ipc-flooding-protection"):
            options.add_argument(argument)
        options.binary_location = CHROMIUM
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        cls.browser = webdriver.Chrome(service=Service(DRIVER), options=options)
        cls.browser.set_script_timeout(120)

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()

    def setUp(self):
        super().setUp()
        self.browser.set_window_size(1100, 1200)
        self.asked = []

    def tearDown(self):
        self.assertEqual(self.browser.get_log("browser"), [])
        for line in self.browser.get_log("performance"):
            message = json.loads(line["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.assertTrue(message["params"]["request"]["url"].startswith(("file:", "data:")), message["params"]["request"])

    def open(self, *arguments, entry="", command="run"):
        path = self.page(*arguments, command=command)
        self.browser.get("about:blank")
        self.browser.get(path.as_uri() + (f"#{quote(entry)}" if entry else ""))

    def js(self, code, *arguments):
        return self.browser.execute_script(code, *arguments)

    def panel(self):
        """What it tells: the entry, its lines, the exact number, and the entries that it links to."""
        panel = self.browser.find_element(By.ID, "panel")
        if not panel.is_displayed():
            return None
        one = lambda selector: [e.get_attribute("textContent") for e in panel.find_elements(By.CSS_SELECTOR, selector)]
        return {"entry": one("h2")[0], "lines": (one(".sum") or [""])[0].split("\n"),
                "exact": panel.find_element(By.CSS_SELECTOR, "[data-exact]").get_attribute("data-exact"), "links": one("a")}

    def press(self, *keys):
        for key in keys:
            self.browser.switch_to.active_element.send_keys(key)

    def test_every_panel_says_what_explain_says(self):
        for example in EXPLAINED:
            self.open(example)
            names = self.js("""const all = JSON.parse(document.querySelector('script[lang]').textContent).matrices;
                               return Object.keys(all).filter(name => all[name].w);""")
            self.assertGreater(len(names), 8)
            for name in names:
                result = run("explain", example, f"{name}[*,*]", "--depth", "1", "--format", "json")
                self.assertEqual(result.returncode, 0, (example, name, result.stderr.decode()))
                explained = json.loads(result.stdout)["entries"]
                told = self.js("""const name = arguments[0], told = [];
                    for (const place of arguments[1]) {
                      location.hash = '#' + encodeURIComponent(`${name}[${place}]`);
                      dispatchEvent(new HashChangeEvent('hashchange'));
                      const panel = document.getElementById('panel');
                      told.push([panel.querySelector('.sum').textContent, panel.querySelector('[data-exact]').dataset.exact]);
                    }
                    return told;""", name, [f"{entry['row']},{entry['column']}" for entry in explained])
                for entry, (lines, exact) in zip(explained, told):
                    expected = [f"{line['relation']} {line['expression']}" + (f"   {line['remark']}" if "remark" in line else "")
                                for line in entry["work"]]
                    self.assertEqual(lines.split("\n"), expected, (example, name, entry["entry"]))
                    value = entry["value"]
                    self.assertEqual(float(exact), float(value), (example, name, entry["entry"]))

    def test_what_an_entry_reads_lights_up(self):
        self.open("worked", entry="A1[2,2]")
        panel = self.panel()
        self.assertEqual(panel["entry"], "A⁽¹⁾[2,2]")
        self.assertEqual(panel["exact"], "0.7679179361387025")
        self.assertEqual(panel["links"], ["Z⁽¹⁾[2,1]", "Z⁽¹⁾[2,2]", "Z⁽¹⁾[2,3]", "head⁽¹⁾[2,1]", "head⁽¹⁾[2,2]"])
        lit = [cell.text for cell in self.browser.find_elements(By.CSS_SELECTOR, "table[data-m=Z1] td.src")]
        self.assertEqual(lit, ["0.000", "2.828", "1.414"])
        self.assertEqual({cell.text for cell in self.browser.find_elements(By.CSS_SELECTOR, "td.hit")}, {"0.768"})
        self.assertTrue(self.js("const r = document.querySelector('.step td.hit').getBoundingClientRect();"
                                "return r.top > 0 && r.bottom < innerHeight;"))

    def test_links_lead_there_and_back(self):
        self.open("worked", entry="Y[1,1]")
        self.browser.find_element(By.LINK_TEXT, "Concat[1,2]").click()
        self.assertEqual(self.panel()["entry"], "Concat[1,2]")
        self.browser.find_element(By.LINK_TEXT, "head⁽¹⁾[1,2]").click()
        self.assertEqual(self.panel()["entry"], "head⁽¹⁾[1,2]")
        self.browser.back()
        self.assertEqual(self.panel()["entry"], "Concat[1,2]")
        self.press(Keys.ESCAPE)
        self.assertIsNone(self.panel())

    def test_walk_by_keys(self):
        self.open("worked", "--heads", "1", entry="S1[1,1]")
        self.press(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
        self.assertEqual(self.panel()["entry"], "S⁽¹⁾[2,2]")
        self.press(Keys.ARROW_LEFT, Keys.ARROW_UP, Keys.ARROW_UP)
        self.assertEqual(self.panel()["entry"], "S⁽¹⁾[1,1]")
        self.press(Keys.TAB)
        self.assertEqual(self.panel()["entry"], "S⁽¹⁾[1,1]")  # the operand of the next step
        self.press(Keys.TAB)
        self.assertEqual(self.panel()["entry"], "Z⁽¹⁾[1,1]")

    def test_pointing_and_clicking(self):
        self.open("worked")
        cell = self.browser.find_element(By.CSS_SELECTOR, "#Q1 td")
        webdriver.ActionChains(self.browser).move_to_element(cell).perform()
        self.assertEqual(self.panel()["entry"], "Q⁽¹⁾[1,1]")
        cell = self.browser.find_elements(By.CSS_SELECTOR, "#K1 td")[3]
        self.js("arguments[0].scrollIntoView({block: 'center'});", cell)
        webdriver.ActionChains(self.browser).move_to_element(cell).click().perform()
        self.assertEqual(self.panel()["entry"], "K⁽¹⁾[2,2]")

    def click(self, selector, at=0):
        cell = self.browser.find_elements(By.CSS_SELECTOR, selector)[at]
        self.js("arguments[0].scrollIntoView({block: 'center'});", cell)
        webdriver.ActionChains(self.browser).move_to_element(cell).click().perform()

    def choose(self, select, value):
        self.js("const s = document.getElementById(arguments[0]); s.value = arguments[1];"
                "s.dispatchEvent(new Event('change', {bubbles: true}));", select, value)

    def test_back_leads_to_what_was_clicked(self):
        self.open("worked")
        self.click("#Y td")
        self.browser.find_element(By.LINK_TEXT, "Concat[1,2]").click()
        self.browser.back()
        self.assertEqual(self.panel()["entry"], "Y[1,1]")

    def test_a_link_leads_to_where_the_address_already_is(self):
        self.open("worked", entry="A1[2,2]")
        self.browser.find_element(By.LINK_TEXT, "Z⁽¹⁾[2,1]").click()
        self.press(Keys.ESCAPE)
        self.click("#A1 tbody td", 4)
        self.assertEqual(self.panel()["entry"], "A⁽¹⁾[2,2]")
        self.browser.find_element(By.LINK_TEXT, "Z⁽¹⁾[2,1]").click()
        self.assertEqual(self.panel()["entry"], "Z⁽¹⁾[2,1]")

    def test_what_was_clicked_stays_while_the_pointer_passes(self):
        self.open("worked")
        self.click("#S1 tbody td", 4)
        other = self.browser.find_elements(By.CSS_SELECTOR, "#S1 tbody td")[8]
        webdriver.ActionChains(self.browser).move_to_element(other).perform()
        self.assertEqual(self.panel()["entry"], "S⁽¹⁾[2,2]")
        self.press(Keys.ESCAPE)
        webdriver.ActionChains(self.browser).move_to_element(self.browser.find_element(By.TAG_NAME, "h1")).perform()
        webdriver.ActionChains(self.browser).move_to_element(other).perform()
        self.assertEqual(self.panel()["entry"], "S⁽¹⁾[3,3]")

    def test_without_shades_sources_still_light_up(self):
        self.open("causal", entry="A1[2,2]")
        ground = lambda selector: self.js("const s = getComputedStyle(document.querySelector(arguments[0]));"
                                          "return [s.backgroundColor, s.backgroundImage, s.boxShadow];", selector)
        before = [ground(selector) for selector in ("td.src", "#A1 td.h", "td.hit")]
        self.assertIn("gradient", before[1][1])
        self.assertNotEqual(before[0][2], "none")  # never by colour alone
        shaded = "#A1 td.w9:not(.src, .hit)"
        self.assertNotEqual(ground(shaded)[0], "rgba(0, 0, 0, 0)")
        self.browser.find_element(By.ID, "heat").click()
        self.assertEqual([ground(selector) for selector in ("td.src", "#A1 td.h", "td.hit")], before)
        self.assertEqual(ground(shaded)[0], "rgba(0, 0, 0, 0)")

    def test_the_other_language(self):
        self.open("worked", "--lang", "both", entry="A1[1,1]")
        shown = lambda: self.js("return document.querySelector('main').innerText + document.querySelector('.top').innerText;")
        options = lambda select: self.js("return [...document.getElementById(arguments[0]).options].map(o => o.textContent);", select)
        maps = lambda: [e.text for e in self.browser.find_elements(By.CSS_SELECTOR, ".map > span") if e.is_displayed()]
        steps = lambda: len([e for e in self.browser.find_elements(By.CSS_SELECTOR, ".step") if e.is_displayed()])
        said = {"en": ("what each token asks for", "One step at a time", "Weights of all heads"),
                "zh-CN": ("每个词元想找什么", "逐步显示", "所有头的注意力权重")}
        titles = {"en": "4 Scores", "zh-CN": "4 注意力分数"}
        heads = {"en": ["Head 1 of 2", "Head 2 of 2"], "zh-CN": ["头 1（共 2 个）", "头 2（共 2 个）"]}
        self.choose("head", "1")
        self.assertEqual(maps(), heads["en"][1:])
        count = steps()
        for value, other in (("zh-CN", "en"), ("en", "zh-CN"), ("zh-CN", "en")):
            for words in said[other]:
                self.assertIn(words, shown())
            self.choose("language", value)
            text = shown()
            self.assertEqual(len(options("jump")), count)
            self.assertEqual([one in options("jump") for one in titles.values()], [one == titles[value] for one in titles.values()])
            self.assertEqual(options("head")[1:], heads[value])
            for words in said[value]:
                self.assertIn(words, text)
            for words in said[other]:
                self.assertNotIn(words, text)
            self.assertEqual(steps(), count)
            self.assertEqual(maps(), heads[value][1:])
            explained = json.loads(run("explain", "worked", "A1[1,1]", "--format", "json", "--lang", value[:2]).stdout)
            remarks = [line["remark"] for line in explained["entries"][0]["work"] if "remark" in line]
            self.assertGreater(len(remarks), 0)
            for remark in remarks:
                self.assertIn(remark, "\n".join(self.panel()["lines"]))
        self.browser.find_element(By.LINK_TEXT, "Z⁽¹⁾[1,2]").click()  # leads to what can be seen
        self.assertEqual(self.panel()["entry"], "Z⁽¹⁾[1,2]")
        self.assertTrue(self.browser.switch_to.active_element.is_displayed())
        self.browser.find_element(By.ID, "one").click()
        self.press(Keys.PAGE_DOWN)
        self.assertEqual(steps(), 1)
        self.assertIn("查询", shown())
        self.choose("jump", "3")
        self.assertEqual(steps(), 1)
        self.assertIn("注意力分数", shown())

    def test_pages_of_decode_and_explain_say_where_numbers_are_from(self):
        self.open("causal", command="decode", entry="step3.cache.K1[1,2]")
        self.assertEqual(self.panel()["entry"], "step3.cache.K⁽¹⁾[1,2]")
        self.assertEqual(self.panel()["lines"][0], "= step1.K⁽¹⁾[1,2]")
        self.browser.find_element(By.LINK_TEXT, "step1.K⁽¹⁾[1,2]").click()
        self.assertEqual(self.panel()["entry"], "step1.K⁽¹⁾[1,2]")
        self.assertIn("step3.cache.K⁽¹⁾[1,2]", self.panel()["links"])
        self.open("worked", "Y[1,1]", "--depth", "all", command="explain", entry="Y[1,1]")
        for name in ("Concat[1,3]", "head⁽²⁾[1,1]", "A⁽²⁾[1,3]", "Z⁽²⁾[1,1]", "S⁽²⁾[1,1]", "Q⁽²⁾[1,2]", "X[1,4]"):
            self.browser.find_element(By.LINK_TEXT, name).click()
            self.assertEqual(self.panel()["entry"], name)
        self.open("worked", "X[2,2]", command="explain", entry="X[2,2]")
        self.assertEqual(self.panel()["exact"], "2")

    def test_decimals_and_back(self):
        self.open("worked")
        first = lambda: self.browser.find_element(By.CSS_SELECTOR, "#Z1 td").text
        for value, text in (("1", "0.7"), ("6", "0.707107"), ("exact", "0.7071067811865475"), ("", "0.707")):
            self.choose("decimals", value)
            self.assertEqual(first(), text)

    def test_columns_stand_at_the_decimal_point(self):
        self.open("worked")
        self.choose("decimals", "exact")
        at = self.js("""return [...document.querySelectorAll('#A1 tbody tr')].map(row => [...row.querySelectorAll('td')].map(cell => {
                          const range = document.createRange(), point = (cell.textContent + '.').indexOf('.');
                          range.setStart(cell.firstChild, 0); range.setEnd(cell.firstChild, point);
                          return Math.round(range.getBoundingClientRect().right);
                        })).filter(row => row.length);""")
        self.assertEqual(len(at), 3)
        self.assertEqual(at, [at[0]] * 3)

    def test_one_step_at_a_time(self):
        self.open("worked")
        visible = lambda: [e.get_attribute("id") for e in self.browser.find_elements(By.CSS_SELECTOR, ".step") if e.is_displayed()]
        self.assertGreater(len(visible()), 10)
        self.browser.find_element(By.ID, "one").click()
        self.assertEqual(visible(), ["t1"])
        self.press(Keys.PAGE_DOWN, Keys.PAGE_DOWN, Keys.PAGE_UP)
        self.assertEqual(visible(), ["t2"])
        self.press(Keys.ESCAPE)
        self.browser.find_element(By.ID, "one").click() if len(visible()) == 1 else None
        self.assertGreater(len(visible()), 10)

    def test_steps_to_jump_to(self):
        self.open("worked")
        titles = self.js("return [...document.getElementById('jump').options].map(o => o.textContent);")
        self.assertEqual(titles, [e.get_attribute("textContent")
                                  for e in self.browser.find_elements(By.CSS_SELECTOR, ".step header > :first-child")])
        groups = self.js("return [...document.querySelectorAll('#jump optgroup')].map(g => g.label);")
        self.assertEqual(groups[:2], ["Head 1 of 2", "Head 2 of 2"])
        top = lambda: self.js("return document.getElementById('t9').getBoundingClientRect().top;")
        self.choose("jump", "8")
        self.assertIn(int(top()), range(0, 300))

    def test_one_step_is_large_and_heads_can_be_chosen(self):
        self.open("worked")
        height = lambda selector: self.js("return document.querySelector(arguments[0]).getBoundingClientRect().height;", selector)
        parts = [f"#t2 {part}" for part in ("td", "th", ".cap", "figcaption", "h3")]
        before = [height(part) for part in parts]
        self.browser.find_element(By.ID, "one").click()
        self.assertTrue(self.js("return !!document.fullscreenElement;"))
        self.choose("jump", "1")
        for part, small in zip(parts, before):
            self.assertGreater(height(part), 1.3 * small, part)
        shown = lambda: [e.get_attribute("id") for e in self.browser.find_elements(By.CSS_SELECTOR, ".step") if e.is_displayed()]
        self.assertEqual(shown(), ["t2"])
        self.browser.find_element(By.LINK_TEXT, "Head 2 of 2").click()
        self.assertEqual(shown(), [self.js("return document.querySelector('#s2 .step').id;")])
        self.assertEqual(self.js("return document.getElementById('jump').selectedIndex + 1;"), int(shown()[0][1:]))

    def test_matrices_of_one_letter_are_two(self):
        G = self.folder / "G.json"
        G.write_text(json.dumps([[(i + j) / 10 for j in range(4)] for i in range(3)]), encoding="utf-8")
        self.open("gated", "--loss", f"gradient:{G}", command="gradient")
        self.choose("decimals", "2")
        given = self.js("return document.querySelector('#t1 table.m').dataset.m;")
        self.assertEqual([cell.text for cell in self.browser.find_elements(By.CSS_SELECTOR, f"#t1 table[data-m='{given}'] tbody td")][:4],
                         ["0.00", "0.10", "0.20", "0.30"])

    def test_words_of_a_formula_stand_apart(self):
        self.open("worked", "--loss", "sum", command="gradient")
        formulas = [text.replace("\u00a0", " ") for text in
                    self.js("return [...document.querySelectorAll('math')].map(m => m.textContent);")]
        for formula in ("L=sum of all entries of Y", "dXK=sum of dXK over all heads"):
            self.assertIn(formula, formulas)

    def test_maps_of_a_batch_say_whose_they_are(self):
        X = json.loads(run("examples", "worked").stdout)["X"]
        self.open(self.write(X=[X, X]))
        names = [e.text for e in self.browser.find_elements(By.CSS_SELECTOR, ".map > span")]
        self.assertEqual(names, [f"Item {item} of 2 · Head {head} of 2" for item in (1, 2) for head in (1, 2)])

    def test_lines_of_every_page_with_maps(self):
        for command, arguments in (("decode", ("causal", "--prompt", "2")), ("run", ("causal",)), ("gradient", ("worked", "--loss", "sum", "--with-forward"))):
            self.open(*arguments, command=command)
            button = self.browser.find_element(By.ID, "lines")
            if button.is_displayed():
                button.click()
            for map in self.browser.find_elements(By.CSS_SELECTOR, ".map"):
                drawn = map.find_elements(By.CSS_SELECTOR, "svg")
                self.assertNotEqual(map.find_element(By.CSS_SELECTOR, "figure").is_displayed(), bool(drawn), command)

    def test_lines_of_one_head_and_one_token_by_keys(self):
        self.open("worked")
        self.browser.find_element(By.ID, "lines").click()
        self.choose("head", "1")
        shown = [e.text for e in self.browser.find_elements(By.CSS_SELECTOR, ".map > span") if e.is_displayed()]
        self.assertEqual(shown, ["Head 2 of 2"])
        token = self.browser.find_elements(By.CSS_SELECTOR, ".map.on text")[1]
        self.js("arguments[0].focus();", token)
        self.press(Keys.ENTER)
        self.assertEqual(token.get_attribute("aria-pressed"), "true")
        left = self.js("return [...document.querySelectorAll('.map.on line')].filter(l => l.getAttribute('visibility') !== 'hidden')"
                       ".map(l => l.getAttribute('y1'));")
        self.assertEqual(len(set(left)), 1)
        self.choose("head", "")
        self.assertEqual(len([e for e in self.browser.find_elements(By.CSS_SELECTOR, ".map svg") if e.is_displayed()]), 2)

    def test_lines_are_as_strong_as_the_weights(self):
        self.open("worked")
        self.browser.find_element(By.ID, "lines").click()
        strengths = [float(line.get_attribute("stroke-opacity"))
                     for line in self.browser.find_elements(By.CSS_SELECTOR, ".map:first-child line")]
        trace = json.loads(run("run", "worked", "--format", "json").stdout)
        self.assertEqual(strengths, [weight for row in trace["heads"][0]["weights"] for weight in row])
        self.browser.find_elements(By.CSS_SELECTOR, ".map:first-child text")[1].click()
        self.assertEqual(len([line for line in self.browser.find_elements(By.CSS_SELECTOR, ".map:first-child line")
                              if line.get_attribute("visibility") != "hidden"]), 3)

    def test_copies_of_a_matrix(self):
        self.open("worked", entry="M1[1,1]")
        self.assertIsNone(self.panel())  # no such step
        self.open("causal", entry="M1[1,1]")
        self.js("navigator.clipboard.writeText = async (text) => { window.copied = text; };")
        for button in self.browser.find_elements(By.CSS_SELECTOR, "#panel .links button"):
            name = button.text
            button.click()
            copied = self.js("return window.copied;")
            if name == "NumPy":
                import numpy as np
                np.testing.assert_array_equal(eval(copied, {"np": np})[0, 1:], -np.inf)  # pylint: disable=eval-used
            elif name == "JSON":
                self.assertEqual(json.loads(copied)[0][1], "-inf")
            else:
                self.assertIn(r"& -\infty", copied)

    def test_a_telephone_needs_no_scrolling_sideways(self):
        self.browser.set_window_size(360, 800)
        for example in EXAMPLES:
            self.open(example)
            self.js("document.body.style.minWidth = '0';")
            width = self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                                 {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": True})
            self.assertLessEqual(self.js("return document.documentElement.scrollWidth;"), 360, (example, width))
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def test_two_pages_in_a_notebook(self):
        pages = [self.page(example, name=f"{example}.html").read_text(encoding="utf-8") for example in ("worked", "causal")]
        host = self.folder / "host.html"
        host.write_text("<!DOCTYPE html><title>notebook</title><style>html { font-size: 10px } body { padding: 0 }</style>"
                        "<h2>notebook</h2><button>Run</button><div class=out></div><div class=out></div>", encoding="utf-8")
        self.browser.get(host.as_uri())
        look = lambda: self.js("""return ['body', 'h2', 'button'].map(tag => { const s = getComputedStyle(document.querySelector(tag));
            return [s.width, s.padding, s.borderRadius, s.fontSize, s.color, s.boxSizing].join(); });""")
        before = look()
        for i, page in enumerate(pages):  # as notebooks show HTML: the scripts are run afterwards
            self.js("""const out = document.querySelectorAll('.out')[arguments[0]];
                out.innerHTML = arguments[1];
                for (const old of out.querySelectorAll('script')) {
                  const script = document.createElement('script');
                  for (const { name, value } of old.attributes) script.setAttribute(name, value);
                  script.textContent = old.textContent;
                  old.replaceWith(script);
                }""", i, page)
        self.assertEqual(look(), before)
        told = self.js("""const out = document.querySelectorAll('.out')[1], panel = out.querySelector('#panel');
            out.querySelector('#M1 td').click();
            const first = panel.querySelector('h2').textContent;
            [...panel.querySelectorAll('a')].find(a => a.textContent === 'A⁽¹⁾[1,1]').click();
            return [first, panel.querySelector('h2').textContent, document.querySelector('#panel').hidden,
                    [...document.querySelectorAll('.bar')].map(bar => bar.hidden)];""")
        self.assertEqual(told, ["M⁽¹⁾[1,1]", "A⁽¹⁾[1,1]", True, [False, False]])
        self.assertEqual([line["message"] for line in self.browser.get_log("browser")
                          if "Content Security Policy" not in line["message"]], [])

    def printed(self, *pdftotext):
        pdf = self.folder / "page.pdf"
        pdf.write_bytes(base64.b64decode(self.browser.print_page()))
        return subprocess.run(["pdftotext", *pdftotext, pdf, "-"], capture_output=True, text=True, check=True).stdout

    @unittest.skipIf(not shutil.which("pdftotext"), "needs poppler-utils")
    def test_print_cuts_no_wide_table(self):
        tokens = [f"word{i}" for i in range(24)]
        X = [[(i * j) % 7 / 10 for j in range(1, 5)] for i in range(24)]
        self.open(self.write(tokens=tokens, X=X))
        words = re.findall(r'<word xMin="([0-9.]+)" yMin="[0-9.]+" xMax="([0-9.]+)" yMax="[0-9.]+">([^<]*)</word>', self.printed("-bbox"))
        width = 8.5 * 72
        self.assertGreater(sum(word == "word23" for _, _, word in words), 10)
        for left, right, word in words:
            self.assertTrue(0 < float(left) < float(right) < width - 20, (left, right, word))

    @unittest.skipIf(not shutil.which("pdftoppm"), "needs poppler-utils")
    def test_print_is_dark_on_white(self):
        sheets = []
        for scheme in ("light", "dark"):
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            self.open("worked")
            self.assertEqual(self.js("return document.querySelector('.mha').dataset.theme;"), scheme)
            self.printed()
            sheets.append(subprocess.run(["pdftoppm", "-gray", "-r", "40", self.folder / "page.pdf"], capture_output=True, check=True).stdout)
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        self.assertEqual(sheets[0], sheets[1])

    @unittest.skipIf(not shutil.which("pdftotext"), "needs poppler-utils")
    def test_a_long_step_begins_where_the_page_does(self):
        self.open("worked", "Y[1,1]", "--depth", "8", command="explain")
        self.assertGreater(len(self.printed("-layout").split("\f")[0].splitlines()), 12)

    @unittest.skipIf(not shutil.which("pdftotext"), "needs poppler-utils")
    def test_print_tears_no_step_apart(self):
        self.open("worked")
        text = self.printed("-layout")
        pages = [page for page in text.split("\f") if page.strip()]
        self.assertIn(len(pages), range(3, 9))
        for page in pages:
            self.assertEqual(page.count("token1"), page.count("token3"), page)
            self.assertNotIn("One step at a time", page)

    @unittest.skipIf(AXE is None, "needs axe-core, which scripts/test fetches from PyPI")
    def test_everybody_can_use_it(self):
        axe = AXE.read_text(encoding="utf-8")
        for example in EXAMPLES:
            for language in ("en", "zh") if example != "worked" else ("en", "zh", "both"):
                self.open(example, "--lang", language, entry="Y[1,1]")
                self.js(axe)
                for _ in ("light", "dark") if example in EXPLAINED[:4] and language == "en" else ("light",):
                    found = self.browser.execute_async_script(
                        "const done = arguments[arguments.length - 1];"
                        "axe.run({resultTypes: ['violations']}).then(result => done(result.violations));")
                    self.assertEqual([(fault["id"], fault["nodes"][0]["html"][:200], fault["nodes"][0]["failureSummary"])
                                      for fault in found], [], (example, language))
                    self.js("document.getElementById('dark').click();")


if __name__ == "__main__":
    unittest.main()
