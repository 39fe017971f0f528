"""The documentation is true: its console blocks print what they say, its relative links lead somewhere, and a Chinese page
says what its English counterpart says.

In a ```console block a line that starts with "$ " is a command and the lines below it are what a terminal shows, exactly;
a line that is just "…" stands for any number of lines. The blocks of one document share a folder, in order, so that one
may use a file that an earlier one wrote.

NAME.zh.md is the counterpart of NAME.md: it runs the same commands with `--lang zh`, has the same headings, lists and tables
in the same order, and the two link to each other.
"""

import re
import subprocess
import sys
import tempfile

from mha import APPROVING, SOURCE, approval_hint, difference, environment

PROGRAMS = {"mha", "head", "tail", "diff", "cat", "python3", "echo", "sed", "wc", "for", "do", "done"}
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
SKELETON = re.compile(r"^(#+ |- |[1-9]\d*\. |\|)", re.MULTILINE)
IN_CHINESE = " --lang zh"


def documents():
    return [*sorted(SOURCE.glob("README*.md")), *sorted((SOURCE / "docs").rglob("*.md"))]


def unknown_program(command):
    """The first program of this command line that the documentation is not meant to use, or nothing."""
    unquoted = re.sub(r"'[^']*'|\"[^\"]*\"", "", command)
    words = (part.split()[0] for part in re.split(r"\||;|&&", unquoted) if part.strip())
    return next((word for word in words if word not in PROGRAMS), None)


def terminal(command, folder):
    """What a person would see after typing this command: both streams, in their order."""
    result = subprocess.run(["sh", "-c", command], cwd=folder, env=environment(), stdin=subprocess.DEVNULL, timeout=300,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return result.stdout.decode().splitlines()


def matches(expected, actual):
    pattern = "".join("(?:.*\n)*?" if line == "…" else re.escape(line) + "\n" for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in actual)) is not None


def sessions(block):
    """The commands of a block, each with the lines below it."""
    command, output = None, []
    for line in block.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, output
            command, output = line[2:], []
        else:
            output.append(line)
    if command:
        yield command, output


class Document:
    """One file: `faults` in words, and `text` as it is with every block that was wrong filled in anew."""

    def __init__(self, path):
        self.name = path.relative_to(SOURCE).as_posix()
        self.faults = []
        before = path.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as self.folder:
            self.text = BLOCK.sub(lambda block: f"```console\n{self.run(block[1])}```", before)
        for link in LINK.findall(FENCED.sub("", before)):
            target = link.partition("#")[0]
            if target and "://" not in link and not (path.parent / target).exists():
                self.faults.append(f"{self.name}: the link {link} leads nowhere")

    def run(self, block):
        return "".join(f"$ {command}\n" + "".join(line + "\n" for line in self.output(command, expected))
                       for command, expected in sessions(block))

    def output(self, command, expected):
        """The lines to stand below this command: as they are where they are right."""
        if unknown_program(command):
            self.faults.append(f"{self.name}: $ {command}\n{unknown_program(command)} is not among {sorted(PROGRAMS)}")
            return expected
        actual = terminal(command, self.folder)
        if matches(expected, actual):
            return expected
        if not APPROVING:
            self.faults.append(f"{self.name}: $ {command}\n{difference(expected, actual)}")
        return actual


def commands(text):
    return [command for block in BLOCK.findall(text) for command, _ in sessions(block)]


def skeleton(text):
    return SKELETON.findall(FENCED.sub("", text))


def counterpart_faults(chinese):
    """Where a Chinese page is not the counterpart of the English one, in words."""
    name = chinese.relative_to(SOURCE).as_posix()
    english = chinese.with_name(chinese.name.replace(".zh.md", ".md"))
    if not english.exists():
        return [f"{name}: there is no {english.name}"]
    text, english_text = chinese.read_text(encoding="utf-8"), english.read_text(encoding="utf-8")
    faults = [f"{page.relative_to(SOURCE).as_posix()}: no link to {other.name}"
              for page, page_text, other in ((chinese, text, english), (english, english_text, chinese))
              if other.name not in LINK.findall(page_text)]
    faults += [f"{name}: $ {command}\nwithout{IN_CHINESE}" for command in commands(text)
               if "mha " in command and IN_CHINESE not in command]
    for what, ours, theirs in (
            ("commands", [command.replace(IN_CHINESE, "") for command in commands(text)], commands(english_text)),
            ("headings, lists and tables", skeleton(text), skeleton(english_text))):
        if ours != theirs:
            faults.append(f"{name}: other {what} than {english.name}\n{difference(theirs, ours)}")
    return faults


def main():
    faults = []
    for path in documents():
        document = Document(path)
        faults += document.faults
        if path.name.endswith(".zh.md"):
            faults += counterpart_faults(path)
        if APPROVING:
            path.write_text(document.text, encoding="utf-8")
    print("\n\n".join([*faults, f"{len(documents())} documents, {len(faults)} faults"]))
    if faults:
        print(approval_hint("docs"))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
