"""On a terminal what is longer than the screen goes through $PAGER, and nothing else does."""

import os
import pty
import select
import signal
import struct
import termios
import fcntl
import tempfile
import time
import unittest

from mha import MHA


def on_terminal(*arguments, pager=None, lines=24, keys=b"", term="xterm"):
    """What a person sees, and the exit code."""
    pid, master = pty.fork()
    if pid == 0:
        environment = {"PATH": "/usr/bin:/bin", "TERM": term, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
        if pager is not None:
            environment["PAGER"] = pager
        time.sleep(0.1)  # until the terminal has its size
        os.execve(MHA, [str(MHA), *arguments], environment)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, 80, 0, 0))
    if keys:
        os.write(master, keys)
    seen, until = b"", time.time() + 60
    while time.time() < until:
        if not select.select([master], [], [], 1)[0]:
            continue
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(master)
    return seen.replace(b"\r\n", b"\n").decode(errors="replace"), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


MARKED = "sed 's/^/| /'"


class Pager(unittest.TestCase):
    def test_a_long_page_goes_through_it(self):
        seen, code = on_terminal("run", "worked", pager=MARKED)
        self.assertEqual(code, 0)
        self.assertTrue(all(line.startswith("| ") for line in seen.splitlines()), seen[:200])
        self.assertIn("Output projection", seen)

    def test_a_short_one_does_not(self):
        for arguments, lines in ((("run", "worked", "--steps", "output", "--heads", "1"), 60), (("run", "worked"), 1000)):
            seen, code = on_terminal(*arguments, pager=MARKED, lines=lines)
            self.assertEqual(code, 0)
            self.assertNotIn("| ", seen[:2])

    def test_who_does_not_want_one_has_none(self):
        for arguments, options in ((("run", "worked", "--no-pager"), {"pager": MARKED}), (("run", "worked"), {"pager": "cat"}),
                                   (("run", "worked"), {"pager": ""}), (("run", "worked"), {"pager": MARKED, "term": "dumb"})):
            seen, code = on_terminal(*arguments, **options)
            self.assertEqual(code, 0)
            self.assertTrue(seen.startswith("Multi-head attention"), seen[:100])

    def test_one_that_is_not_there_loses_nothing(self):
        seen, code = on_terminal("run", "worked", pager="no-such-pager")
        self.assertEqual(code, 0)
        self.assertIn("Output projection", seen)

    def test_the_exit_code_is_that_of_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            answer = os.path.join(folder, "a.json")
            with open(answer, "w", encoding="utf-8") as file:
                file.write('{"A1": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "Y": [[9, 9, 9], [9, 9, 9], [9, 9, 9]]}')
            for pager in (MARKED, "head -n 1", "false", "exec true"):
                self.assertEqual(on_terminal("check", "worked", answer, pager=pager, lines=5)[1], 1, pager)

    def test_a_file_and_a_pipe_have_none(self):
        with tempfile.TemporaryDirectory() as folder:
            seen, code = on_terminal("run", "worked", "-o", os.path.join(folder, "p.txt"), pager=MARKED)
            self.assertEqual((seen, code), ("", 0))

    def test_pause_has_none(self):
        seen, code = on_terminal("compare", "worked", "--mistake", "no_scale", "--pause", pager=MARKED, keys=b"\nq")
        self.assertEqual(code, 0)
        self.assertIn("Two computations", seen)
        self.assertNotIn("| ", seen)
        self.assertIn("[Enter: next step, q: end]", seen)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unittest.main()
