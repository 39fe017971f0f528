"""mha import of modules whose names many use, and of a c_attn that lies as a Linear's: the same numbers as under other names."""

import json
import os
import tempfile
import unittest

import numpy

import tiny_models
from mha import run


class Plain(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name
        numpy.save(self.path("X.npy"), tiny_models.random(3, 5, 8))

    def path(self, name):
        return os.path.join(self.folder, name)

    def imported(self, tensors, *options, config=None):
        for name in ("config.json", "p.json"):
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
        tiny_models.write_safetensors(self.path("model.safetensors"), tensors)
        if config is not None:
            with open(self.path("config.json"), "w", encoding="utf-8") as file:
                file.write(config)
        return run("import", self.path("model.safetensors"), "--x", self.path("X.npy"), "-o", self.path("p.json"), *options)

    def output(self, tensors, *options, config=None):
        done = self.imported(tensors, *options, config=config)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        computed = run("run", self.path("p.json"), "--steps", "output", "--format", "json")
        return json.loads(computed.stdout)["output"]

    def refused(self, tensors, *words, options=(), config=None):
        done = self.imported(tensors, *options, config=config)
        self.assertEqual(done.returncode, 2, done.stderr.decode())
        for word in words:
            self.assertIn(word, done.stderr.decode())

    def test_qkv_and_out(self):
        joined, out = tiny_models.random(1, 24, 8), tiny_models.random(2, 8, 8)
        known = self.output({"in_proj_weight": joined, "out_proj.weight": out}, "--heads", "2")
        mine = {"attn.qkv.weight": joined, "attn.out.weight": out}
        self.assertEqual(self.output(mine, "--heads", "2", "--family", "plain"), known)
        self.refused(mine, "--family plain", options=("--heads", "2"))

    def test_out_proj_of_clip_is_there(self):
        tensors = tiny_models.projections("self_attn.", heads=2, kv_heads=2, d_k=4)
        known = self.output(tensors, "--heads", "2", "--family", "plain")
        clip = {name.replace("o_proj", "out_proj"): array for name, array in tensors.items()}
        self.assertEqual(self.output(clip, "--heads", "2", "--family", "plain"), known)
        self.refused(clip, "--family plain", options=("--heads", "2"))
        del clip["self_attn.k_proj.weight"]
        self.refused(clip, "self_attn.k_proj.weight", options=("--heads", "2"))

    def test_c_attn_that_lies_as_a_linear(self):
        tensors = tiny_models.gpt2("h.0.")
        known = self.output(tensors, "--heads", "2")
        turned = {name: array.T if name.endswith(("c_attn.weight", "c_proj.weight")) and "attn" in name else array
                  for name, array in tensors.items()}
        self.assertEqual(self.output(turned, "--heads", "2"), known)
        config = json.dumps({"model_type": "gpt2", "n_head": 2, "n_embd": 8})
        self.assertEqual(self.output(turned, config=config), known)

    def test_config(self):
        tensors = tiny_models.gpt2("h.0.")
        self.refused(tensors, "config.json", "empty", config="")
        config = json.dumps({"model_type": "gpt2", "n_head": 2, "n_embd": 8, "position_embedding_type": 3})
        self.assertEqual(self.output(tensors, config=config), self.output(tensors, "--heads", "2"))

    def test_tokens_are_utf8(self):
        self.refused(tiny_models.gpt2("h.0."), "--tokens", "UTF-8", options=("--heads", "2", "--tokens", b"a,\xe4,b,c,d"))


if __name__ == "__main__":
    unittest.main()
