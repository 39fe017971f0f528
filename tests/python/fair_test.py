"""Verdicts of mha check on random answers, right and wrong, that NumPy has made: no right one may be called anything but
right and no wrong one right, the first wrong step is named, and the mistake is among those that are named.

Each kind of answer is a test. To draw others: MHA_SEED=2; to run the kinds that are known to be judged unfairly as well:
MHA_UNFAIR=1; to keep an example of each kind that fails: MHA_KEEP=FOLDER.
"""

import collections
import functools
import json
import os
import tempfile
import unittest
from pathlib import Path

from fair_answers import KINDS, cases
from mha import MHA, run
from random_problems import FEATURES, problems

# Why kinds of answers are judged unfairly today.
REQUIRE = "there is no --require"

# They are skipped; whoever mends one takes its name away.
KNOWN_UNFAIR = {
    "right: required and there": REQUIRE,
    "required: all, one left out": REQUIRE,
    "required: one that is left out": REQUIRE,
    "required: others than the one left out": REQUIRE,
}

SEED = int(os.environ.get("MHA_SEED", "1"))
ALL = os.environ.get("MHA_UNFAIR") == "1"
KEEP = os.environ.get("MHA_KEEP")
SHARE = 0.1 if MHA.parent.name == "build-asan" else 1  # the sanitizers watch every step closely and slowly


@functools.cache
def pool():
    return list(problems(SEED, 3 * len(FEATURES)))


@functools.cache
def judged():
    """The cases of each kind, each with what is unfair in its verdict or None. One process judges all of a problem."""
    drawn = [case for kind in KINDS if ALL or kind not in KNOWN_UNFAIR for case in cases(kind, pool(), SEED, SHARE)]
    together = collections.defaultdict(list)
    for case in drawn:
        together[case.problem, case.options].append(case)
    result = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for (problem, options), group in together.items():
            path, answers = Path(folder, "problem.json"), Path(folder, "answers.jsonl")
            path.write_text(json.dumps(pool()[problem].as_json()), encoding="utf-8")
            answers.write_text("".join(case.answer + "\n" for case in group), encoding="utf-8")
            done = run("check", path, answers, "--format", "json", "--threads", "1", *options)
            try:
                reports = json.loads(done.stdout)["answers"]
            except ValueError:
                reports = [None] * len(group)
            for case, report in zip(group, reports, strict=True):
                complaint = unfair(case, report) if report else f"no report: {done.stderr.decode().strip()}"
                result[case.kind].append((case, complaint))
    return result


def unfair(case, report):
    """What is unfair in a verdict, in words; None where it is fair."""
    if report["verdict"] != case.verdict:
        where = report["first_wrong"] and [report["first_wrong"]["step"], report["first_wrong"]["head"]]
        return f"called {report['verdict']}, is {case.verdict}: {where} {report['mistakes']}"
    if case.first is not None:
        first = report["first_wrong"]["step"], report["first_wrong"]["head"]
        if first != case.first:
            return f"first wrong is said to be {first}, is {case.first}"
    if not set(case.ids) <= set(report["mistakes"]):
        return f"{case.ids} at {case.first} is not among {report['mistakes']}"
    for step in report["steps"]:
        if (step["step"], step["head"]) in case.true_steps and step["verdict"] not in case.true_is:
            return f"{step['step']} of head {step['head']} is the true one and called {step['verdict']}"
    return None


def keep(case, complaint):
    folder = Path(KEEP, case.kind.replace(":", "").replace(" ", "_").replace(",", ""))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "problem.json").write_text(json.dumps(pool()[case.problem].as_json()), encoding="utf-8")
    (folder / "answer.json").write_text(case.answer + "\n", encoding="utf-8")
    (folder / "unfair.txt").write_text(f"mha check problem.json answer.json {' '.join(case.options)}\n{complaint}\n",
                                       encoding="utf-8")


class Fair(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        judged()

    def judge(self, kind):
        of_kind = judged()[kind]
        self.assertTrue(of_kind, "no case of this kind could be drawn")
        complaints = [(case, complaint) for case, complaint in of_kind if complaint]
        if KEEP and complaints:
            keep(*min(complaints, key=lambda found: len(found[0].answer) + len(str(pool()[found[0].problem].as_json()))))
        some = "\n".join(f"  {pool()[case.problem].feature}: {complaint}" for case, complaint in complaints[:5])
        if complaints:
            self.fail(f"{len(complaints)} of {len(of_kind)} verdicts are unfair\n{some}")

    def test_the_table_of_unfair_kinds_names_kinds(self):
        self.assertLessEqual(set(KNOWN_UNFAIR), set(KINDS))

    def test_there_are_as_many_answers_as_promised(self):
        for what, least in (("right", 500), ("wrong", 500)):
            count = sum(KINDS[kind][0] for kind in KINDS if (kind.startswith("right")) == (what == "right"))
            self.assertGreaterEqual(count, least)


def test_of(kind):
    def test(self):
        self.judge(kind)
    test.__doc__ = kind
    return test if ALL or kind not in KNOWN_UNFAIR else unittest.skip(KNOWN_UNFAIR[kind])(test)


for number, name in enumerate(KINDS):
    setattr(Fair, f"test_{number:03} {name}", test_of(name))


if __name__ == "__main__":
    unittest.main()
