"""What the tests of import share: a folder for a model, `mha import` and `mha run` in it, and NumPy beside them."""

import json
import tempfile
import unittest
from pathlib import Path

import numpy
from mha import run
from tiny_models import D_MODEL, TOKENS, attention, linears, random, write_safetensors

LLAMA = {"model_type": "llama", "hidden_size": 8, "num_attention_heads": 4, "num_key_value_heads": 2}
BERT = {"model_type": "bert", "hidden_size": 8, "num_attention_heads": 2}
GPT2 = {"model_type": "gpt2", "n_embd": 8, "n_head": 2}
GEMMA2 = LLAMA | {"model_type": "gemma2", "head_dim": 2, "query_pre_attn_scalar": 8, "attn_logit_softcapping": 0.5,
                  "sliding_window": 2}


def llama_layer(layer):
    return f"model.layers.{layer}.self_attn."


class Importing(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.x = random(99, TOKENS, D_MODEL).astype(float)
        numpy.save(self.folder / "X.npy", self.x)

    def model(self, tensors, config=None, name="model.safetensors"):
        write_safetensors(self.folder / name, tensors)
        if config is not None:
            (self.folder / "config.json").write_text(json.dumps(config))
        return self.folder / name

    def imports(self, *arguments, model="model.safetensors"):
        """The account on stderr and the problem that was written."""
        result = run("import", model, *arguments, "-o", "problem.json", cwd=self.folder)
        self.assertEqual((result.returncode, result.stdout), (0, b""), result.stderr.decode())
        return result.stderr.decode(), json.loads((self.folder / "problem.json").read_text())

    def refused(self, *arguments, words=(), model="model.safetensors"):
        result = run("import", model, *arguments, "-o", "problem.json", cwd=self.folder)
        message = result.stderr.decode()
        self.assertEqual((result.returncode, result.stdout), (2, b""), message)
        self.assertEqual(message.count("\n"), 1, message)
        self.assertTrue(message.startswith("mha: "), message)
        self.assertFalse((self.folder / "problem.json").exists())
        for word in words:
            self.assertIn(word, message)
        return message

    def ran(self, *arguments):
        """Weights of each head and the output, as `mha run` computes them from the files."""
        result = run("run", "problem.json", "--format", "json", "--steps", "weights,output", *arguments, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        trace = json.loads(result.stdout)
        return numpy.array([head["weights"] for head in trace["heads"]]), numpy.array(trace["output"])

    def agrees(self, tensors, kind, prefix, heads, kv_heads, *arguments, x_kv=None, **rules):
        """Imports with these arguments, runs, and compares with NumPy."""
        account, problem = self.imports("--x", "X.npy", *arguments)
        weights, output = self.ran()
        true_weights, true_output = attention(self.x, linears(tensors, kind, prefix), heads, kv_heads, x_kv=x_kv, **rules)
        numpy.testing.assert_allclose(weights, true_weights, rtol=0, atol=1e-12)
        numpy.testing.assert_allclose(output, true_output, rtol=0, atol=1e-12)
        return account, problem

    def says(self, account, *words):
        for word in words:
            self.assertIn(word, account)
