"""What reads as English, or as careless typesetting, in what mha says in Chinese."""

import re
import unicodedata

HAN = "\u4e00-\u9fff"

# What is the same in both languages: code, quotations, JSON, paths and options, entries, formulas.
SAME = re.compile(r"""
    `[^`\n]*` | '[^'\n]*' | "[^"\n]*" | “[^”\n]*” | \{[^\n]*\} | \[[^\]\n]*\] | \([^()""" + HAN + r"""\n]*\)
    | --?[A-Za-z][\w=,|.-]* | [\w.{}-]*[/.\\_=^|][\w./\\{}_=^|-]* | \w*\d\w*""", re.VERBOSE)

# Names of more than one word.
NAMES = re.compile(r"mha [a-z]+( [\w./]+)*|JSON Schema|Git LFS|[A-Z]{2,}( [A-Z]{2,})+")

ENGLISH = re.compile(r"[A-Za-z]{2,}[,:;]? [A-Za-z]{2,}")
HALF_WIDTH = re.compile(f"[{HAN}][,;:!?(]|[,;!?)][{HAN}]|[{HAN}]\\)|\\([{HAN}]")


def left_in_english(text):
    """Where two English words stand side by side, line by line."""
    found = []
    for line in text.splitlines():
        match = ENGLISH.search(NAMES.sub("·", SAME.sub("·", line)))
        if match:
            found.append(f"{match.group()!r} in {line!r}")
    return found


def half_width(text):
    """Where an ASCII comma, colon or bracket touches a Chinese character."""
    found = []
    for line in text.splitlines():
        match = HALF_WIDTH.search(re.sub(r"`[^`]*`|'[^']*'|“[^”]*”|\"[^\"]*\"", "·", line))
        if match:
            found.append(f"{match.group()!r} in {line!r}")
    return found


def faults_of_message(text):
    """The same of what stands on stderr, where each line begins with mha: and perhaps a place."""
    lines = [re.sub(r"^mha: ", "", line) for line in text.splitlines()]
    said = "\n".join(re.sub(r"^(\S+:\d+:\d+: )?([\w./\[\]\"-]+: ){0,2}", "", line) for line in lines)
    faults = left_in_english(said) + half_width(said)
    return faults + [f"no Chinese in {line!r}" for line in lines if line and not re.search(f"[{HAN}]", line)]


def width(line):
    """The columns that a line takes on a terminal."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in line)
