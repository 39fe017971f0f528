"""Golden pages: what `mha` prints for every example in both languages, and for the options that change the page.

A difference writes NAME.txt.actual beside the approved tests/golden/NAME.txt.
"""

import sys

from mha import APPROVING, SOURCE, approval_hint, difference, run

GOLDEN = SOURCE / "tests" / "golden"

# Pages beside those of the examples: their file, the arguments.
PAGES = {
    "examples": ["examples"],
    "worked_ascii": ["run", "worked", "--ascii"],
    "worked_round3": ["run", "worked", "--round", "3"],
    "worked_index_base0": ["run", "worked", "--index-base", "0"],
    "worked_color": ["run", "worked", "--color", "always"],
    "worked_width40": ["run", "worked", "--width", "40"],
    "worked_work_all": ["run", "worked", "--work", "all", "--steps", "scores,weights", "--heads", "1"],
    "packed_part": ["run", "packed", "--steps", "packed,Q", "--heads", "2"],
}

# Pages of the other commands, in both languages: their file, the exit code, the arguments.
ANSWER = "tests/golden/answer_two_mistakes.json"  # to the worked example
STUDY_PAGES = {
    "explain_output": (0, ["explain", "Y[1,1]"]),
    "explain_all": (0, ["explain", "Y[1,1]", "--depth", "all", "--round", "3"]),
    "explain_row": (0, ["explain", "causal", "A1[2,*]"]),
    "explain_split": (0, ["explain", "packed", "Q2[1,1]", "--depth", "2"]),
    "check": (1, ["check", "worked", ANSWER]),
    "check_hint": (1, ["check", "worked", ANSWER, "--hint", "3"]),
    "compare_mistake": (0, ["compare", "worked", "--mistake", "no_scale", "--steps", "scaled,weights,output"]),
    "compare_heads": (0, ["compare", "bag_zh", "bag_one_head_zh"]),
    "mistakes": (0, ["mistakes", "worked"]),
    "decode": (0, ["decode", "causal"]),
    "decode_window": (0, ["decode", "rotary", "--prompt", "2", "--heads", "2"]),
    "gradient": (0, ["gradient", "tests/cases/gradient_worked_target/problem.json"]),
    "gradient_round3": (0, ["gradient", "tests/cases/gradient_worked_target/problem.json", "--round", "3", "--with-forward"]),
    "gradient_grouped": (0, ["gradient", "grouped", "--loss", "sum"]),
    "gradient_block": (0, ["gradient", "block", "--loss", "sum"]),
    "gradient_layers": (0, ["gradient", "tests/cases/gradient_layers/problem.json", "--heads", "1"]),
    "gradient_cross_entropy": (0, ["gradient", "tests/cases/gradient_cross_entropy/problem.json", "--heads", "1"]),
    "gradient_softcap": (0, ["gradient", "tests/cases/gradient_row_without_key_softcap/problem.json", "--heads", "1"]),
    "gradient_rope": (0, ["gradient", "tests/cases/gradient_grouped_rope/problem.json", "--steps", "dQ,dK,dQ_rot,dX"]),
    "gradient_batch": (0, ["gradient", "batch", "--loss", "sum", "--heads", "1"]),
    "explain_gradient": (0, ["explain", "tests/cases/gradient_worked_target/problem.json", "dW_Q1[1,2]", "--depth", "all"]),
}


def all_pages():
    examples = sorted(path.stem for path in (SOURCE / "data").glob("*.json"))
    for name in examples:
        for language in ("en", "zh"):
            yield f"{name}.{language}", ["run", name, "--lang", language]
    yield from ((f"{name}.en", [*arguments, "--lang", "en"] if arguments[0] == "run" else arguments)
                for name, arguments in PAGES.items())
    for name, (_, arguments) in STUDY_PAGES.items():
        for language in ("en", "zh"):
            yield f"{name}.{language}", [*arguments, "--lang", language]


def fault_of(name, arguments):
    """What is wrong with this page, in words, or nothing."""
    result = run(*arguments, cwd=SOURCE)
    if result.returncode != STUDY_PAGES.get(name.rpartition(".")[0], (0,))[0]:
        return f"exit code {result.returncode}: {result.stderr.decode()}"
    approved_file, actual_file = GOLDEN / f"{name}.txt", GOLDEN / f"{name}.txt.actual"
    if APPROVING:
        approved_file.write_bytes(result.stdout)
    approved = approved_file.read_bytes() if approved_file.exists() else b""
    if result.stdout == approved:
        actual_file.unlink(missing_ok=True)
        return None
    actual_file.write_bytes(result.stdout)
    return difference(approved.decode().splitlines(), result.stdout.decode().splitlines())


def main():
    GOLDEN.mkdir(exist_ok=True)
    pages = dict(all_pages())
    faults = {name: fault_of(name, arguments) for name, arguments in pages.items()}
    for stale in sorted(path for path in GOLDEN.glob("*.txt") if path.stem not in pages):
        if APPROVING:
            stale.unlink()
        else:
            faults[stale.name] = "approved, but no page has this name"
    faults = {name: fault for name, fault in faults.items() if fault}
    for name, fault in faults.items():
        print(f"{name} ({' '.join(['mha', *pages.get(name, [])])}):\n{fault}\n")
    print(f"{len(pages)} pages, {len(faults)} differ")
    if faults:
        print(approval_hint("golden"))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
