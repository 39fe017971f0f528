"""mha import: which layer of which files is meant, and where paths lead."""

import json
import os
import unittest

import numpy
import tiny_models as tiny
from importing import BERT, GEMMA2, GPT2, LLAMA, Importing, llama_layer
from mha import run
from tiny_models import attention, linears, random, write_safetensors


class WhichLayer(Importing):
    def test_one_attention_needs_no_layer(self):
        self.model(tiny.projections(llama_layer(7)), LLAMA)
        self.assertIn("layer 7", self.imports()[0])
        self.refused_layer("3", "7")

    def refused_layer(self, layer, *words):
        (self.folder / "problem.json").unlink(missing_ok=True)
        self.refused("--layer", layer, words=(f"there is no layer {layer}", *words))

    def test_several_are_listed(self):
        self.model({k: v for layer in (0, 1, 2, 5) for k, v in tiny.bert(f"encoder.layer.{layer}.").items()}, BERT)
        self.refused(words=("0–2, 5", "encoder.layer.N.", "--layer"))
        self.refused_layer("3", "0–2, 5")

    def test_two_attentions_in_one_layer(self):
        tensors = tiny.torch_mha("decoder.layers.0.self_attn.", 1) | tiny.torch_mha("decoder.layers.0.multihead_attn.", 30)
        self.model(tensors)
        self.refused("--heads", "2", words=("self_attn", "multihead_attn", "--prefix"))
        self.refused("--heads", "2", "--layer", "0", words=("decoder.layers.0.self_attn.", "--prefix"))
        self.refused("--heads", "2", "--prefix", "encoder", words=("--prefix 'encoder'", "multihead_attn"))
        self.agrees(tensors, "torch", "decoder.layers.0.self_attn.", 2, 2, "--heads", "2", "--layer", "0",
                    "--prefix", "decoder.layers.0.self")

    def test_encoder_and_decoder(self):
        self.model(tiny.bert("encoder.layer.1.") | tiny.bert("decoder.layer.1."), BERT)
        self.refused("--layer", "1", words=("encoder.layer.1.", "decoder.layer.1.", "--prefix"))

    def test_the_layer_of_names_without_a_number_can_be_said(self):
        tensors = tiny.projections("")
        self.model(tensors, GEMMA2)
        self.refused(words=("even layers", "--layer"))
        self.assertIn("layer 3", self.imports("--layer", "3")[0])

    def test_unknown_names_are_listed(self):
        tensors = {f"blocks.{i}.attn.qkv.weight": random(1, 24, 8) for i in range(3)} | {"head.weight": random(2, 8, 8)}
        self.model(tensors | {"a.c_fc.weight": random(1, 2)})
        message = self.refused(words=("blocks.N.attn.qkv.weight 24×8", "q_proj"))
        self.assertNotIn("c_fc", message)
        self.model({"head.weight": random(1, 2)})
        self.refused(words=("none of the 1 tensors",))

    def test_q_proj_without_o_proj_is_none(self):
        tensors = tiny.projections("a.")
        tensors["a.output.weight"] = tensors.pop("a.o_proj.weight")
        self.model(tensors)
        self.refused("--family", "plain", "--heads", "4", words=("o_proj",))

    def test_cross_attention_of_gpt2_is_left_out(self):
        tensors = tiny.gpt2("h.0.") | {"h.0.crossattention.c_attn.weight": random(1, 8, 16),
                                       "h.0.crossattention.q_attn.weight": random(1, 8, 8),
                                       "h.0.crossattention.c_proj.weight": random(1, 8, 8)}
        self.model(tensors, GPT2)
        self.agrees(tensors, "gpt2", "h.0.", 2, 2, causal=True)


class Places(Importing):
    def shards(self, config=LLAMA):
        layers = [tiny.projections(llama_layer(i), seed=20 * i) for i in range(2)]
        names = [f"model-0000{i + 1}-of-00002.safetensors" for i in range(2)]
        for name, tensors in zip(names, layers):
            write_safetensors(self.folder / name, tensors)
        weight_map = {tensor: name for name, tensors in zip(names, layers) for tensor in tensors}
        self.write_index(weight_map)
        (self.folder / "config.json").write_text(json.dumps(config))
        return layers

    def write_index(self, weight_map):
        (self.folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))

    def agrees_with(self, tensors, model):
        _, problem = self.imports("--layer", "1", "--x", "X.npy", model=model)
        _, true_output = attention(self.x, linears(tensors, "projections", llama_layer(1)), 4, 2, base=10000, causal=True)
        numpy.testing.assert_allclose(self.ran()[1], true_output, rtol=0, atol=1e-12)
        return problem

    def test_shards(self):
        layers = self.shards()
        for model in ("model.safetensors.index.json", ".", str(self.folder)):
            problem = self.agrees_with(layers[1], model)
            self.assertEqual(problem["W_Q"]["file"], "model-00002-of-00002.safetensors")

    def test_only_the_shards_of_the_layer_are_needed(self):
        layers = self.shards()
        (self.folder / "model-00001-of-00002.safetensors").unlink()
        self.agrees_with(layers[1], ".")
        (self.folder / "problem.json").unlink()
        self.refused("--layer", "0", model=".", words=("model-00001-of-00002.safetensors", "no such file"))

    def test_a_folder_with_one_file(self):
        self.model(tiny.projections(""), LLAMA, name="weights.safetensors")
        self.assertEqual(self.imports(model=".")[1]["W_Q"]["file"], "weights.safetensors")

    def test_arrays_of_numpy(self):
        layers = [tiny.projections(llama_layer(i), seed=20 * i) for i in range(2)]
        numpy.savez(self.folder / "weights.npz", **layers[0], **layers[1])
        (self.folder / "config.json").write_text(json.dumps(LLAMA))
        for model in ("weights.npz", "."):
            problem = self.agrees_with(layers[1], model)
            self.assertEqual(problem["W_Q"], {"file": "weights.npz", "name": llama_layer(1) + "q_proj.weight"})
        numpy.savez(self.folder / "odd.npz", **(layers[0] | {llama_layer(0) + "q_proj.weight": numpy.zeros(3)}))
        (self.folder / "problem.json").unlink()
        self.refused(model="odd.npz", words=("q_proj.weight",))

    def test_folders_that_say_nothing(self):
        self.refused(model=".", words=("no .safetensors or .npz file",))
        for name in "ab":
            self.model(tiny.projections(""), LLAMA, name=f"{name}.safetensors")
        self.refused(model=".", words=("a.safetensors, b.safetensors",))

    def test_indexes_that_lie(self):
        self.shards()
        self.write_index({llama_layer(0) + "q_proj.weight": "../secret.safetensors"})
        self.refused(model=".", words=("model.safetensors.index.json:1:", "../secret.safetensors", "same folder"))
        self.write_index({f"{x}_proj.weight": "model-00001-of-00002.safetensors" for x in "qkvo"})
        self.refused(model=".", words=("model-00001-of-00002.safetensors", "_proj.weight", "not in it"))
        self.refused(model="config.json", words=("config.json:1:", "weight_map"))

    def test_paths_are_relative_to_the_problem(self):
        self.model(tiny.projections(""), LLAMA)
        os.mkdir(self.folder / "sub")
        os.mkdir(self.folder / "side")
        result = run("import", "model.safetensors", "--x", "X.npy", "-o", "sub/problem.json", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("--allow-outside", result.stderr.decode())
        problem = json.loads((self.folder / "sub/problem.json").read_text())
        self.assertEqual(problem["W_Q"]["file"], "../model.safetensors")
        self.assertEqual(problem["X"]["file"], "../X.npy")
        for arguments, code in (((), 2), (("--allow-outside",), 0)):
            result = run("run", "../sub/problem.json", "--steps", "output", *arguments, cwd=self.folder / "side")
            self.assertEqual(result.returncode, code, result.stderr)
        self.assertNotIn("--allow-outside", self.imports("--x", "X.npy")[0])

    def test_links_keep_their_names_and_count_as_what_they_lead_to(self):
        os.mkdir(self.folder / "blobs")
        os.mkdir(self.folder / "snapshot")
        self.model(tiny.projections(""), LLAMA, name="blobs/0123")
        os.symlink("../blobs/0123", self.folder / "snapshot/model.safetensors")
        os.symlink("../config.json", self.folder / "snapshot/config.json")
        result = run("import", ".", "--x", "../X.npy", "-o", "problem.json", cwd=self.folder / "snapshot")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("model.safetensors lies outside the folder of problem.json", result.stderr.decode())
        problem = json.loads((self.folder / "snapshot/problem.json").read_text())
        self.assertEqual(problem["W_Q"]["file"], "model.safetensors")
        result = run("run", "problem.json", "--allow-outside", cwd=self.folder / "snapshot")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_what_is_read_is_never_overwritten(self):
        model = self.model(tiny.projections(""), LLAMA)
        os.link(model, self.folder / "other.json")
        before = model.read_bytes()
        for output in ("model.safetensors", "config.json", "X.npy", "other.json"):
            result = run("import", "model.safetensors", "--x", "X.npy", "-o", output, cwd=self.folder)
            self.assertEqual(result.returncode, 2, output)
            self.assertIn("what this run reads", result.stderr.decode())
        self.assertEqual(model.read_bytes(), before)

    def test_outputs_that_cannot_be_written(self):
        self.model(tiny.projections(""), LLAMA)
        result = run("import", "model.safetensors", "-o", "nowhere/problem.json", cwd=self.folder)
        self.assertEqual(result.returncode, 4, result.stderr)
        for arguments in ((), ("-o", "-")):
            result = run("import", "model.safetensors", *arguments, cwd=self.folder)
            self.assertEqual(result.returncode, 2)
            self.assertIn("-o problem.json", result.stderr.decode())


class Inputs(Importing):
    def test_without_x_run_says_the_shape(self):
        for tensors, config in ((tiny.projections(""), LLAMA), (tiny.gpt2("h.0."), GPT2), (tiny.bert(""), BERT)):
            self.model(tensors, config)
            self.assertIn("X is still missing, with 8 columns", self.imports()[0])
            result = run("run", "problem.json", cwd=self.folder)
            self.assertEqual(result.returncode, 2)
            self.assertIn("\"X\" is missing", result.stderr.decode())
            self.assertIn("n×8", result.stderr.decode())

    def test_tokens(self):
        self.model(tiny.projections(""), LLAMA)
        _, problem = self.imports("--x", "X.npy", "--tokens", "a,b,中,d,e")
        self.assertEqual(problem["tokens"], ["a", "b", "中", "d", "e"])
        self.ran()
        self.refused_anew("--tokens", "a,,c", words=("--tokens", "empty"))

    def refused_anew(self, *arguments, words):
        (self.folder / "problem.json").unlink(missing_ok=True)
        self.refused(*arguments, words=words)

    def test_inputs_that_do_not_fit(self):
        self.model(tiny.projections(""), LLAMA)
        self.refused("--x", "X.json", words=("--x", ".npy"))
        numpy.save(self.folder / "narrow.npy", self.x[:, :6])
        numpy.save(self.folder / "vector.npy", self.x[0])
        (self.folder / "no.npy").write_bytes(b"x")
        self.refused("--x", "narrow.npy", words=("--x narrow.npy", "5×6", "8 columns", "q_proj.weight"))
        self.refused("--x", "vector.npy", words=("--x vector.npy", "1 axis"))
        self.refused("--x", "no.npy", words=("no.npy",))
        self.refused("--x", "none.npy", words=("none.npy", "no such file"))
        self.refused("--x", "X.npy", "--tokens", "a,b", words=("--tokens", "2 labels", "5 rows"))
        self.refused("--x", "X.npy", "--x-kv", "X.npy", words=("--x-kv", "self-attention"))

    def test_messages_in_chinese(self):
        self.model(tiny.projections(""), LLAMA)
        account, _ = self.imports("--lang", "zh")
        self.says(account, "因果掩码", "config.json 的 num_attention_heads", "旋转位置", "还缺少 X")


if __name__ == "__main__":
    unittest.main()
