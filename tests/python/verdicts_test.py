"""What mha check makes of answers that are large, of groups whose keys stand once, and of names from other texts."""

import json
import unittest

import numpy as np

from check_test import WORKED, InFolder
from mha import run


def rounded(rng, *shape):
    return np.round(rng.normal(0, 0.25, shape), 2)


def heads_of(x, h):
    return x.reshape(len(x), h, -1).transpose(1, 0, 2)


def softmax(z):
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class Large(InFolder):
    """Not small enough for a reading of every step unless something is wrong."""

    n, d, h = 320, 64, 4

    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(5)
        self.X, self.W = rounded(rng, self.n, self.d), {w: rounded(rng, self.d, self.d) for w in "QKVO"}
        weights = {f"W_{w}": W.tolist() for w, W in self.W.items()}
        self.problem = self.write("problem.json", {"X": self.X.tolist(), "num_heads": self.h, **weights})

    def output(self, divisor):
        Q, K, V = (heads_of(self.X @ self.W[w], self.h) for w in "QKV")
        heads = softmax(Q @ K.transpose(0, 2, 1) / divisor) @ V
        return heads.transpose(1, 0, 2).reshape(self.n, -1) @ self.W["O"]

    def judged(self, output):
        return self.report(self.write("answer.json", {"Y": output.tolist()}), problem=self.problem)[0]

    def test_the_output_alone(self):
        right = self.output((self.d / self.h) ** 0.5)
        self.assertEqual(self.judged(right)["verdict"], "right")
        self.assertEqual(self.judged(np.round(right, 3))["verdict"], "right")
        wrong = self.judged(self.output(self.d ** 0.5))
        self.assertEqual((wrong["verdict"], wrong["first_wrong"]["step"]), ("wrong", "output"))
        self.assertIn("scale_sqrt_dmodel", wrong["mistakes"])
        for divisor, mistake in ((self.d ** 0.5, "scale_sqrt_dmodel"), (1, "no_scale")):  # few decimals hide nothing
            wrong = self.judged(np.round(self.output(divisor), 3))
            self.assertEqual((wrong["verdict"], wrong["mistakes"]), ("wrong", [mistake]))
        right[200, 30] += 0.5
        slip = self.judged(right)
        self.assertEqual((slip["verdict"], slip["mistakes"]), ("wrong", []))
        page = run("check", self.problem, self.folder / "answer.json").stdout.decode()
        self.assertIn("rows 200 to 202, columns 30 to 32 of 320×64", page)
        self.assertLess(len(page.splitlines()), 40)


class Groups(InFolder):
    def test_kv_head_says_whose_keys_they_are(self):
        rng = np.random.default_rng(2)
        W = lambda: rng.integers(-2, 3, (4, 2)).tolist()
        problem = self.write("problem.json", {
            "X": rng.integers(-2, 3, (3, 4)).tolist(), "heads": [{"W_Q": W()} for _ in range(4)],
            "kv_heads": [{"W_K": W(), "W_V": W()} for _ in range(2)], "W_O": "identity"})
        heads = json.loads(run("run", problem, "--format", "json").stdout)["heads"]
        first = [{key: head[key] for key in ("head", "kv_head", "K", "V")} for head in heads[:2]]
        self.assertEqual(self.verdict({"heads": first}, problem=problem), "right")
        wrong_K = (np.array(heads[0]["K"]) + 1).tolist()
        scores = [(np.array(head["Q"]) @ np.array(wrong_K).T).tolist() for head in heads[:2]]
        answer = {"heads": [{"head": 1, "kv_head": 1, "K": wrong_K, "scores": scores[0]},
                            {"head": 2, "kv_head": 1, "scores": scores[1]}]}
        steps = self.report(self.write("answer.json", answer), problem=problem)[0]["steps"]
        found = {(step["step"], step["head"]): step["verdict"] for step in steps}
        self.assertEqual([found["scores", 1], found["scores", 2]], ["following", "following"])


class Names(InFolder):
    def test_names_of_other_texts(self):
        head = WORKED["heads"][0]
        answer = {"Q_head1": head["Q"], "attn1": head["weights"], "out1": head["head_output"],
                  "concat_heads": WORKED["concat"], "H2": WORKED["heads"][1]["head_output"]}
        given = self.report(self.write("answer.json", answer))[0]
        self.assertEqual((given["verdict"], given["given"]), ("right", 5))

    def test_what_was_expected_is_said(self):
        for answer, words in (({"q": [[1]]}, 'Did you mean "Q"?'),
                              (json.loads(run("examples", "worked").stdout), "this is a problem")):
            result = run("check", "worked", self.write("answer.json", answer))
            self.assertEqual(result.returncode, 2)
            self.assertIn(words, result.stderr.decode())
            self.assertIn('{"A1": …, "Y": …}', result.stderr.decode())
        page = run("check", "worked", self.write("z.json", {"Z1": WORKED["heads"][0]["head_output"]})).stdout.decode()
        self.assertIn("a head's output is head1", page)

    def test_x_alone_is_nobodys_work(self):
        self.assertEqual(self.verdict({"X": WORKED["X"]}), "unusable")

    def test_hints_speak_of_earlier_steps_only_where_some_were_given(self):
        wrong = {"Z1": [[9, 9, 9]] * 3}
        before = "What was given before it is right."
        for answer, said in ((wrong, False), ({"S1": WORKED["heads"][0]["scores"], **wrong}, True)):
            page = run("check", "worked", self.write("answer.json", answer), "--hint", "1").stdout.decode()
            self.assertEqual(before in page, said)


class OtherShapes(InFolder):
    def test_what_follows_from_a_matrix_of_another_shape_is_not_wrong_again(self):
        values = [np.hstack([np.array(head["V"]), [[2], [2], [2]]]) for head in WORKED["heads"]]
        outputs = [np.array(head["weights"]) @ V for head, V in zip(WORKED["heads"], values)]
        answer = {f"V{i}": V.tolist() for i, V in enumerate(values, 1)}
        answer |= {f"head{i}": output.tolist() for i, output in enumerate(outputs, 1)}
        concat = np.hstack(outputs)
        report = self.report(self.write("answer.json", answer | {"concat": concat.tolist(), "Y": WORKED["output"]}))[0]
        found = {(step["step"], step["head"]): step["verdict"] for step in report["steps"]}
        self.assertEqual([found["V", 1], found["V", 2], found["head_output", 1], found["concat", None], found["output", None]],
                         ["wrong", "wrong", "following", "following", "right"])
        concat[0, 0] += 1
        report = self.report(self.write("answer.json", answer | {"concat": concat.tolist()}))[0]
        self.assertEqual([step["verdict"] for step in report["steps"] if step["step"] == "concat"], ["wrong"])

    def test_what_does_not_fit_together_is_only_wrong(self):
        for name, rows, columns in (("X", 2, 4), ("Q", 3, 3), ("K", 5, 2), ("S", 3, 5), ("A", 2, 2), ("head", 1, 1), ("V", 1, 1)):
            answer = {f"{name}{head}": np.ones((rows, columns)).tolist() for head in (1, 2)}
            answer = {"X": answer["X1"]} if name == "X" else answer
            report = self.report(self.write("answer.json", answer | {"Y": [[1, 2]], "concat": [[1]]}))[0]
            self.assertEqual(report["verdict"], "wrong", name)


if __name__ == "__main__":
    unittest.main()
