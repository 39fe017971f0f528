"""Holds the #includes to the architecture: which folder sees which, and which one sees each external package."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# core ← {compute, show, io} ← study ← cli ← main: a folder of src/ sees itself and these.
SEES = {
    "core": set(),
    "compute": {"core"},
    "show": {"core"},
    "io": {"core"},
    "study": {"core", "compute", "show", "io"},
    "cli": {"core", "compute", "show", "io", "study"},
    "main": {"cli"},
}

# The one folder that sees an external package, by how its headers begin; None: all do.
PACKAGES = {
    "CLI/": "cli",
    "nlohmann/": "io",
    "CL/": "compute",
    "Eigen/": "floor",  # bench/floor.cpp, the yardstick
    "omp.h": "floor",
    "utf8proc.h": "core",
    "zip.h": "io",
    "xlsxwriter.h": "show",
    "zlib.h": "io",
    "catch2/": "tests",
    "fmt/": None,
}

SYSTEM = re.compile(r"sys/\w+\.h|(dlfcn|fcntl|poll|signal|spawn|termios|unistd)\.h")

SEEN_BY_TESTS = {"catch2/", "nlohmann/"}  # the tests of study read what comes out as JSON

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def folder_of(path):
    """The folder that a source file belongs to; tests/NAME and src/NAME are both NAME, src/main.cpp is main."""
    parts = path.relative_to(ROOT).parts
    return parts[1] if len(parts) > 2 else path.stem


def check_own(path, header):
    """An include in quotes: one of ours."""
    if path.is_relative_to(ROOT / "tests") or path.is_relative_to(ROOT / "bench"):
        places = [ROOT / "src" / header, ROOT / "tests" / header, path.parent / header]
        if not any(place.exists() for place in places):
            yield f'"{header}" is no file of src/ or tests/'
        return
    if not (ROOT / "src" / header).exists():
        yield f'"{header}" is no file of src/'
    folder, target = folder_of(path), header.split("/")[0]
    if target != folder and target not in SEES[folder]:
        yield f'{folder}/ includes "{header}", but sees only: {", ".join(sorted(SEES[folder])) or "itself"}'


def check_external(path, header):
    """An include in angle brackets: the standard library's, the system's or an external package's."""
    if re.fullmatch(r"[a-z_0-9]+", header) or SYSTEM.fullmatch(header):
        return
    for beginning, folder in PACKAGES.items():
        if header.startswith(beginning):
            in_tests = path.is_relative_to(ROOT / "tests") and beginning in SEEN_BY_TESTS
            allowed = in_tests or folder in (None, folder_of(path))
            if not allowed:
                yield f"<{header}> belongs to {folder}/ alone"
            return
    yield f"<{header}> is of no known package; tests/includes_test.py lists who may see what"


def check_file(path):
    text = path.read_text(encoding="utf-8")
    if not text.startswith("// "):
        yield "the first line is not a // comment that says what the file is"
    if path.suffix == ".hpp" and "\n#pragma once\n" not in text:
        yield "no #pragma once"
    includes = INCLUDE.findall(text)
    for bracket, header in includes:
        yield from (check_own if bracket == '"' else check_external)(path, header)
    own_header = path.with_suffix(".hpp")
    if path.suffix == ".cpp" and own_header.exists():
        name = own_header.relative_to(ROOT / path.relative_to(ROOT).parts[0]).as_posix()
        if not includes or includes[0][1] != name:
            yield f'its own header "{name}" does not come first'


def names_of(path):
    """The types that a header defines; of a .cpp what its anonymous namespace holds besides functions."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".hpp":
        return re.findall(r"^(?:struct|class|enum class) (\w+)[^;\n]*\{", text, re.M)
    own = "".join(re.findall(r"^namespace \{\n(.*?)^\}  // namespace\n", text, re.M | re.S))
    return re.findall(r"^(?:struct|class|enum class) (\w+)[^;\n]*\{", own, re.M) + re.findall(
        r"^(?:constexpr|const) [^=({\n]*?\b(\w+)(?:\[\])? ?[={]", own, re.M)


def check_names():
    """A folder is one namespace, and its files are compiled many at once: there a name is one thing, also where it is
    seen in one file only."""
    places = {}
    for path in [path for folder in ("src", "tests") for path in sorted((ROOT / folder).rglob("*.[ch]pp"))]:
        if path.parent.name not in ("kernels", "fuzz"):
            for name in names_of(path):
                key = path.is_relative_to(ROOT / "src"), folder_of(path), name
                places.setdefault(key, []).append(path.relative_to(ROOT).as_posix())
    for (_, _, name), files in places.items():
        if len(files) > 1:
            yield f"{name} is defined in {' and in '.join(files)}"


def main():
    files = [path for folder in ("src", "tests", "bench") for path in sorted((ROOT / folder).rglob("*.[ch]pp"))]
    faults = [f"{path.relative_to(ROOT)}: {fault}" for path in files for fault in check_file(path)]
    faults += check_names()
    print("\n".join(faults) or f"{len(files)} files keep to the arrows")
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main())
