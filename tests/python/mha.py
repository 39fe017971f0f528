"""What the Python tests share: the program under test, run as a person would run it, and the approval of its pages."""

import difflib
import os
import subprocess
from pathlib import Path

import in_chinese

MHA = Path(os.environ["MHA"]).resolve()
SOURCE = Path(os.environ["MHA_SOURCE"]).resolve()

APPROVING = os.environ.get("MHA_APPROVE") == "1"


plainly = subprocess.run


def run_in_chinese_too(command, *arguments, **options):
    """subprocess.run; whoever meets a refusal of mha meets it in Chinese as well, and nothing of it is in English."""
    result = plainly(command, *arguments, **options)
    program, *words = [os.fsdecode(word) for word in command] if isinstance(command, (list, tuple)) else [""]
    refused = program == str(MHA) and result.returncode in (2, 3, 4) and result.stderr
    if not refused or "--lang" in words or "preexec_fn" in options or "stdin" in options or "stderr" in options and \
            options["stderr"] != subprocess.PIPE:
        return result
    again = dict(options, env=dict(options.get("env") or os.environ, LC_ALL="zh_CN.UTF-8"), check=False)
    message = plainly(command, *arguments, **again).stderr
    faults = in_chinese.faults_of_message(message if isinstance(message, str) else message.decode(errors="replace"))
    assert not faults, "\n".join(faults)
    return result


subprocess.run = run_in_chinese_too


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
