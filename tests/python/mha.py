"""What the Python tests share: the program under test, run as a person would run it, and the approval of its pages."""

import difflib
import os
import subprocess
from pathlib import Path

MHA = Path(os.environ["MHA"]).resolve()
SOURCE = Path(os.environ["MHA_SOURCE"]).resolve()

APPROVING = os.environ.get("MHA_APPROVE") == "1"


def environment():
    """A plain terminal: UTF-8, no wish for a width or for colour; `mha` and the system's own tools on the path."""
    kept = {key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS") or key == "TMPDIR"}
    return kept | {"PATH": f"{MHA.parent}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "TERM": "xterm-256color"}


def run(*arguments, **options):
    """Runs `mha ARGUMENTS…`; stdout and stderr are bytes."""
    return subprocess.run([MHA, *arguments], env=environment(), capture_output=True, check=False, timeout=300, **options)


def difference(expected, actual):
    """Where two lists of lines differ, in words that stay readable when everything does."""
    lines = list(difflib.unified_diff(expected, actual, "approved", "actual", n=1, lineterm=""))
    more = [f"… and {len(lines) - 30} more lines"] if len(lines) > 30 else []
    return "\n".join(lines[:30] + more)


def approval_hint(test):
    """The command that makes the present output the approved one."""
    return f"to approve what is printed now: MHA_APPROVE=1 ctest --test-dir build -R ^python.{test}"
