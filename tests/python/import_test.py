"""mha import: tiny models of every family, imported and run, against NumPy; and what cannot be imported."""

import json
import os
import tempfile
import unittest
from pathlib import Path

import numpy
import tiny_models as tiny
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


class Families(Importing):
    def test_bert(self):
        tensors = tiny.bert("bert.encoder.layer.0.", 1) | tiny.bert("bert.encoder.layer.1.", 50)
        self.model(tensors, BERT)
        account, problem = self.agrees(tensors, "bert", "bert.encoder.layer.1.", 2, 2, "--layer", "1")
        self.says(account, "BERT", "model_type in config.json", "layer 1", "out×in", "2 heads", "num_attention_heads",
                  "no mask", "no rope", "1/√4")
        self.assertEqual(problem["layout"], "torch")
        self.assertEqual(problem["mask"], "none")
        self.assertIn("before the residual", problem["description"]["en"])
        self.assertIn("残差", problem["description"]["zh"])
        self.assertNotIn("norm in front", problem["description"]["en"])

    def test_bert_that_decodes_is_causal(self):
        tensors = tiny.bert("encoder.layer.0.")
        self.model(tensors, BERT | {"is_decoder": True})
        account, _ = self.agrees(tensors, "bert", "encoder.layer.0.", 2, 2, causal=True)
        self.says(account, "causal", "is_decoder in config.json")

    def test_gpt2(self):
        tensors = tiny.gpt2("transformer.h.0.", 1) | tiny.gpt2("transformer.h.3.", 50)
        self.model(tensors, GPT2)
        account, problem = self.agrees(tensors, "gpt2", "transformer.h.3.", 2, 2, "--layer", "3", causal=True)
        self.says(account, "GPT-2", "in×out", "n_head in config.json", "causal")
        self.assertEqual(problem["W_QKV"], {"file": "model.safetensors", "tensor": "transformer.h.3.attn.c_attn.weight"})
        self.assertIn("norm in front", problem["description"]["en"])

    def test_gpt2_scales(self):
        tensors = tiny.gpt2("h.3.")
        rows = [({}, 0.5), ({"scale_attn_weights": False}, 1), ({"scale_attn_by_inverse_layer_idx": True}, 0.125),
                ({"scale_attn_weights": False, "scale_attn_by_inverse_layer_idx": True}, 0.25)]
        for change, scale in rows:
            with self.subTest(change):
                self.model(tensors, GPT2 | change)
                account, _ = self.agrees(tensors, "gpt2", "h.3.", 2, 2, causal=True, scale=scale)
                self.says(account, *change)

    def test_torch_without_config(self):
        tensors = tiny.torch_mha()
        self.model(tensors)
        account, problem = self.agrees(tensors, "torch", "", 4, 4, "--heads", "4")
        self.says(account, "MultiheadAttention", "4 heads (--heads)", "no mask")
        self.assertIn("W_QKV", problem)

    def test_torch_cross_attention(self):
        x_kv = random(98, 3, 6).astype(float)
        numpy.save(self.folder / "X_kv.npy", x_kv)
        tensors = tiny.torch_mha("decoder.layers.2.multihead_attn.", d_kv=6)
        self.model(tensors)
        self.agrees(tensors, "torch", "decoder.layers.2.multihead_attn.", 2, 2, "--heads", "2", "--x-kv", "X_kv.npy",
                    x_kv=x_kv)
        self.says(self.refused_after("--heads", "2"), "6", "8", "--x-kv")

    def test_torch_cross_attention_cuts_the_joined_weight(self):
        x_kv = random(98, 3, D_MODEL).astype(float)
        numpy.save(self.folder / "X_kv.npy", x_kv)
        tensors = tiny.torch_mha("a.")
        self.model(tensors)
        _, problem = self.agrees(tensors, "torch", "a.", 2, 2, "--heads", "2", "--x-kv", "X_kv.npy", x_kv=x_kv)
        self.assertEqual(problem["W_K"]["rows"], [8, 16])

    def refused_after(self, *arguments):
        (self.folder / "problem.json").unlink()
        return self.refused(*arguments)

    def test_llama(self):
        tensors = tiny.projections(llama_layer(3))
        tensors[llama_layer(3) + "rotary_emb.inv_freq"] = random(7, 1)
        self.model(tensors, LLAMA | {"rope_theta": 500000.0})
        account, problem = self.agrees(tensors, "projections", llama_layer(3), 4, 2, base=500000, causal=True)
        self.says(account, "Llama", "4 heads", "2 key/value heads", "num_key_value_heads", "500000",
                  "rope_theta in config.json", "1/√2")
        self.assertEqual(problem["mask"], "causal")
        self.assertEqual(problem["rope"]["pairing"], "half")
        self.assertIn("norm in front", problem["description"]["en"])

    def test_llama_with_biases_and_a_head_size_of_its_own(self):
        tensors = tiny.projections(llama_layer(0), heads=2, kv_heads=1, d_k=6, biases="qkvo")
        self.model(tensors, LLAMA | {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 6, "attention_bias": True})
        account, _ = self.agrees(tensors, "projections", llama_layer(0), 2, 1, base=10000, causal=True)
        self.says(account, "head_dim in config.json", "rope base 10000 (the default)")

    def test_kv_heads_absent_or_null_are_as_many_as_heads(self):
        tensors = tiny.projections(llama_layer(0), kv_heads=4)
        for config in (LLAMA | {"num_key_value_heads": None}, {k: v for k, v in LLAMA.items() if "key" not in k}):
            self.model(tensors, config)
            self.agrees(tensors, "projections", llama_layer(0), 4, 4, base=10000, causal=True)

    def test_gemma_1(self):
        tensors = tiny.projections(llama_layer(0), d_k=4)
        self.model(tensors, LLAMA | {"model_type": "gemma", "head_dim": 4})
        account, _ = self.agrees(tensors, "projections", llama_layer(0), 4, 2, base=10000, causal=True)
        self.says(account, "Gemma 1", "1/√4")
        self.assertNotIn("softcap", account)

    def test_gemma_2(self):
        for layer, window in ((0, 2), (1, None), (2, 2)):
            with self.subTest(layer):
                tensors = tiny.projections(llama_layer(layer))
                self.model(tensors, GEMMA2)
                account, problem = self.agrees(tensors, "projections", llama_layer(layer), 4, 2, base=10000, causal=True,
                                               scale=8 ** -0.5, softcap=0.5, window=window)
                self.says(account, "query_pre_attn_scalar", "attn_logit_softcapping", "even layers")
                self.assertEqual(problem["mask"],
                                 ["causal", {"window": {"left": 1, "right": 0}}] if window else "causal")

    def test_gemma_2_without_a_softcap(self):
        tensors = tiny.projections(llama_layer(1))
        self.model(tensors, GEMMA2 | {"attn_logit_softcapping": None})
        self.agrees(tensors, "projections", llama_layer(1), 4, 2, base=10000, causal=True, scale=8 ** -0.5)

    def test_qwen_2(self):
        rows = [({}, None), ({"use_sliding_window": False, "sliding_window": 3, "max_window_layers": 0}, None),
                ({"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 4}, None),
                ({"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 3}, 3)]
        tensors = tiny.projections(llama_layer(3), biases="qkv")
        for change, window in rows:
            with self.subTest(change):
                self.model(tensors, LLAMA | {"model_type": "qwen2", "rope_theta": 1e6} | change)
                account, _ = self.agrees(tensors, "projections", llama_layer(3), 4, 2, base=1e6, causal=True, window=window)
                self.says(account, "Qwen 2")

    def test_mistral(self):
        tensors = tiny.projections(llama_layer(1))
        for w in (None, 1, 3, 100):
            with self.subTest(w):
                self.model(tensors, LLAMA | {"model_type": "mistral", "sliding_window": w})
                self.agrees(tensors, "projections", llama_layer(1), 4, 2, base=10000, causal=True, window=w)

    def test_layer_types_come_first(self):
        tensors = tiny.projections(llama_layer(1))
        for family in ("mistral", "qwen2", "llama"):
            for kind, window in (("sliding_attention", 2), ("full_attention", None)):
                with self.subTest((family, kind)):
                    config = LLAMA | {"model_type": family, "sliding_window": 2, "layer_types": ["x", kind]}
                    self.model(tensors, config)
                    account, _ = self.agrees(tensors, "projections", llama_layer(1), 4, 2, base=10000, causal=True,
                                             window=window)
                    self.says(account, "layer_types[1] in config.json")

    def test_plain(self):
        tensors = tiny.projections("")
        self.model(tensors)
        account, _ = self.agrees(tensors, "projections", "", 4, 2, "--family", "plain", "--heads", "4", "--kv-heads", "2")
        self.says(account, "no mask", "no rope", "(--kv-heads)")

    def test_options_in_place_of_a_config(self):
        tensors = tiny.projections("self_attn.")
        self.model(tensors)
        for family in ("llama", "mistral", "qwen2", "gemma", "gemma2"):
            with self.subTest(family):
                account, _ = self.agrees(tensors, "projections", "self_attn.", 4, 2, "--family", family, "--heads", "4",
                                         "--rope-base", "100", "--window", "2", "--softcap", "1.5", "--scale", "0.7",
                                         "--layer", "2", causal=True, base=100, window=2, softcap=1.5, scale=0.7)
                self.says(account, "--family", "--rope-base", "--window", "--softcap", "--scale")

    def test_half_precision_on_disk(self):
        tensors = {name: array.astype(numpy.float16) for name, array in tiny.projections("").items()}
        self.model(tensors)
        self.agrees(tensors, "projections", "", 4, 2, "--family", "plain", "--heads", "4")


class Rope(Importing):
    def agrees_with_base(self, config, base, dims=None, layer=0):
        tensors = tiny.projections(llama_layer(layer), d_k=4)
        self.model(tensors, LLAMA | {"head_dim": 4} | config)
        return self.agrees(tensors, "projections", llama_layer(layer), 4, 2, base=base, dims=dims, causal=True)[0]

    def test_where_the_base_is(self):
        self.says(self.agrees_with_base({}, 10000), "the default")
        self.says(self.agrees_with_base({"rope_theta": 50}, 50), "rope_theta in config.json")
        self.says(self.agrees_with_base({"rope_parameters": {"rope_theta": 60, "rope_type": "default"}}, 60),
                  "rope_parameters.rope_theta in config.json")
        nested = {"full_attention": {"rope_theta": 70}, "sliding_attention": {"rope_theta": 80, "rope_type": "default"}}
        for kind, base in (("full_attention", 70), ("sliding_attention", 80)):
            config = {"rope_parameters": nested, "layer_types": [kind], "sliding_window": 100}
            self.says(self.agrees_with_base(config, base), f"rope_parameters.{kind}.rope_theta in config.json")

    def test_scalings_that_are_none(self):
        for scaling in (None, {"rope_type": "default"}, {"type": "default"}, {}):
            self.agrees_with_base({"rope_theta": 50, "rope_scaling": scaling}, 50)

    def test_a_part_of_the_columns(self):
        self.says(self.agrees_with_base({"partial_rotary_factor": 0.5}, 10000, dims=2), "the first 2")

    def test_two_bases(self):
        tensors = tiny.projections(llama_layer(0))
        self.model(tensors, LLAMA | {"rope_theta": 50, "rope_parameters": {"rope_theta": 60}})
        self.refused(words=("rope_theta is 50", "rope_parameters.rope_theta is 60"))

    def test_gemma_3_has_two_bases(self):
        config = LLAMA | {"model_type": "gemma3_text", "query_pre_attn_scalar": 2, "sliding_window": 2,
                          "rope_theta": 1e6, "rope_local_base_freq": 100, "rope_scaling": {"rope_type": "linear", "factor": 8}}
        for layer, base, window, ignored in ((4, 100, 2, "q_norm"), (5, 1e6, None, "qk_norm,rope_scaling")):
            prefix = f"language_model.{llama_layer(layer)}"
            tensors = tiny.projections(prefix) | {prefix + "q_norm.weight": random(1, 2), prefix + "k_norm.weight": random(2, 2)}
            self.model(tensors, {"model_type": "gemma3", "text_config": config, "vision_config": {"num_attention_heads": 3}})
            account, _ = self.agrees(tensors, "projections", prefix, 4, 2, "--ignore", ignored, base=base, window=window,
                                     causal=True)
            self.says(account, "Gemma 3", "text_config.num_attention_heads", "without qk_norm")


class WhichLayer(Importing):
    def test_one_attention_needs_no_layer(self):
        self.model(tiny.projections(llama_layer(7)), LLAMA)
        self.assertIn("layer 7", self.imports()[0])
        self.refused_layer("3", "7")

    def refused_layer(self, layer, *words):
        (self.folder / "problem.json").unlink(missing_ok=True)
        self.refused("--layer", layer, words=(f"--layer {layer}", *words))

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
        tensors["a.out_proj.weight"] = tensors.pop("a.o_proj.weight")
        self.model(tensors)
        self.refused("--family", "plain", "--heads", "4", words=("a.out_proj.weight 8×8",))

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

    def test_folders_that_say_nothing(self):
        self.refused(model=".", words=("no .safetensors file",))
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
            self.assertIn("8 columns", self.imports()[0])
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
        self.refused("--x-kv", "X.npy", words=("--x-kv", "--x"))
        numpy.save(self.folder / "narrow.npy", self.x[:, :6])
        numpy.save(self.folder / "vector.npy", self.x[0])
        (self.folder / "no.npy").write_bytes(b"x")
        self.refused("--x", "narrow.npy", words=("--x narrow.npy", "5×6", "8 columns", "q_proj.weight"))
        self.refused("--x", "vector.npy", words=("--x vector.npy", "one axis"))
        self.refused("--x", "no.npy", words=("no.npy",))
        self.refused("--x", "none.npy", words=("none.npy", "no such file"))
        self.refused("--x", "X.npy", "--tokens", "a,b", words=("--tokens", "2 labels", "5 rows"))
        self.refused("--x", "X.npy", "--x-kv", "X.npy", words=("--x-kv", "self-attention"))

    def test_messages_in_chinese(self):
        self.model(tiny.projections(""), LLAMA)
        account, _ = self.imports("--lang", "zh")
        self.says(account, "因果掩码", "config.json 的 num_attention_heads", "旋转位置", "还缺少 X")


class Refusals(Importing):
    def refuses(self, tensors, config, *words, arguments=()):
        (self.folder / "config.json").unlink(missing_ok=True)
        self.model(tensors, config)
        return self.refused(*arguments, words=words)

    def test_nothing_says_the_heads(self):
        self.refuses(tiny.torch_mha(), None, "--heads", "in_proj_weight")
        self.refuses(tiny.bert(""), {"model_type": "bert"}, "--heads", "num_attention_heads")

    def test_nothing_says_the_family(self):
        self.refuses(tiny.projections(""), None, "--family", "llama|mistral|qwen2|gemma|gemma2", "plain",
                     arguments=("--heads", "4"))
        self.refuses(tiny.projections(""), {"num_attention_heads": 4}, "--family", "model_type")
        self.refuses(tiny.projections(""), LLAMA | {"model_type": "cohere"}, "cohere", "--family", "mistral")
        self.refuses(tiny.bert(""), BERT | {"model_type": "roformer"}, "roformer", "--family bert")

    def test_families_that_contradict(self):
        self.refuses(tiny.projections(""), LLAMA, "--family mistral", "llama", arguments=("--family", "mistral"))
        self.refuses(tiny.bert(""), BERT, "--family llama", "bert", arguments=("--family", "llama"))
        self.refuses(tiny.bert(""), BERT, "lama", "llama", arguments=("--family", "lama"))

    def test_configs_that_do_not_fit_the_shapes(self):
        tensors = tiny.projections("a.")
        rows = [({"hidden_size": 6}, "hidden_size", "6", "a.q_proj.weight", "8"),
                ({"num_attention_heads": 2}, "size 4 (hidden_size/num_attention_heads in config.json)", "num_key_value_heads", "a.k_proj.weight"),
                ({"num_attention_heads": 3}, "3 heads", "a.q_proj.weight", "8×8"),
                ({"head_dim": 4}, "head_dim", "16 columns", "a.q_proj.weight", "8×8"),
                ({"num_key_value_heads": 4}, "num_key_value_heads", "8 columns", "a.k_proj.weight", "4×8"),
                ({"num_key_value_heads": None}, "num_key_value_heads", "a.k_proj.weight")]
        for change, *words in rows:
            with self.subTest(change):
                self.refuses(tensors, LLAMA | change, *words)
        self.refuses(tensors, LLAMA | {"attention_bias": True}, "attention_bias", "a.q_proj.bias")
        self.refuses(tiny.projections("a.", biases="qkvo"), LLAMA | {"attention_bias": False}, "attention_bias", "a.q_proj.bias")

    def test_options_that_contradict_the_config(self):
        self.refuses(tiny.projections(""), LLAMA, "--heads 2", "num_attention_heads", "4", arguments=("--heads", "2"))
        self.refuses(tiny.projections(""), LLAMA, "--kv-heads 4", "num_key_value_heads", "2", arguments=("--kv-heads", "4"))
        self.model(tiny.projections(""), LLAMA)
        self.imports("--heads", "4", "--kv-heads", "2")

    def test_values_of_the_wrong_type_have_a_place(self):
        rows = [("num_attention_heads", "4"), ("num_attention_heads", 0), ("num_key_value_heads", 1.5), ("head_dim", [2]),
                ("rope_theta", "1e6"), ("rope_scaling", 3), ("rope_parameters", "x"), ("layer_types", "full_attention"),
                ("layer_types", []), ("attention_bias", 1), ("model_type", 5), ("hidden_size", True)]
        for key, value in rows:
            with self.subTest((key, value)):
                self.refuses(tiny.projections(""), LLAMA | {key: value}, "config.json:1:", key, "expected"
                             if key != "layer_types" or value else "layer_types")
        for key, value in (("is_decoder", "yes"), ("position_embedding_type", 1)):
            self.refuses(tiny.bert(""), BERT | {key: value}, "config.json:1:", key)
        for key in ("scale_attn_weights", "scale_attn_by_inverse_layer_idx"):
            self.refuses(tiny.gpt2("h.0."), GPT2 | {key: 1}, "config.json:1:", key, "true or false")
        self.model(tiny.projections(""))
        (self.folder / "config.json").write_text("{")
        self.refused(words=("config.json:1:2",))

    def test_values_that_cannot_be(self):
        self.refuses(tiny.projections(""), LLAMA | {"rope_theta": 0}, "rope base is 0")
        self.refuses(tiny.projections("", d_k=3), LLAMA | {"head_dim": 3}, "pairs")
        self.refuses(tiny.projections(llama_layer(2)), LLAMA | {"layer_types": ["full_attention"]}, "layer_types", "layer 2")
        self.refuses(tiny.projections(llama_layer(0)), LLAMA | {"layer_types": ["sliding_attention"]}, "layer_types[0]",
                     "sliding_window")
        self.refuses(tiny.projections(llama_layer(0)), GEMMA2 | {"query_pre_attn_scalar": None}, "query_pre_attn_scalar")
        self.refuses(tiny.projections(llama_layer(0)), {k: v for k, v in GEMMA2.items() if "softcap" not in k},
                     "attn_logit_softcapping", "--softcap none")

    def test_tensors_of_another_kind(self):
        tensors = tiny.projections("")
        self.refuses(tensors | {"q_proj.weight": random(1, 8)}, LLAMA, "q_proj.weight", "a matrix")
        self.refuses(tensors | {"q_proj.bias": random(1, 7)}, LLAMA, "q_proj.bias", "8 numbers")
        self.refuses(tensors | {"o_proj.weight": random(1, 8, 6)}, LLAMA, "o_proj.weight", "takes 6")
        self.refuses({k: v.T for k, v in tiny.gpt2("h.0.").items()}, GPT2, "c_attn.weight", "24×8", "in×out")
        (self.folder / "model.safetensors").write_bytes(b"PK\3\4" + bytes(50))
        self.refused(words=("model.safetensors: ", "zip"))

    def test_options_are_read_strictly(self):
        self.model(tiny.projections(""), LLAMA)
        for arguments in (("--layer", "-1"), ("--layer", "x"), ("--heads", "0"), ("--window", "0"), ("--window", "x"),
                          ("--rope-base", "0"), ("--softcap", "nan"), ("--scale", "inf"), ("--lang", "fr")):
            self.refused(*arguments, words=(arguments[0], f"'{arguments[1]}'"))
        self.refused("--famliy", "llama", words=("--famliy", "--family"))

    def test_options_that_a_family_has_not(self):
        self.refuses(tiny.bert(""), BERT, "--rope-base", arguments=("--rope-base", "100"))
        self.refuses(tiny.bert(""), BERT, "--window", arguments=("--window", "3"))


class Parts(Importing):
    """What mha does not compute is refused by its name, and named in the description when it is ignored."""

    def named(self, tensors, config, name, *words, arguments=(), also=()):
        (self.folder / "config.json").unlink(missing_ok=True)
        self.model(tensors, config)
        self.refused(*arguments, words=(f"--ignore {name}", *words))
        self.refused("--ignore", "bias_" + "v" * 9, *arguments, words=("--ignore 'bias_vvvvvvvvv'",))
        for accepted in (name, *also):
            account, problem = self.imports("--ignore", accepted, *arguments)
            self.assertIn(f"without {name}", account)
            for language in ("en", "zh"):
                self.assertIn(name, problem["description"][language])
            (self.folder / "problem.json").unlink()

    def test_norms_of_queries_and_keys(self):
        norms = {"a.self_attn.q_norm.weight": random(1, 2), "a.self_attn.k_norm.weight": random(2, 2)}
        for family in ("qwen3", "gemma3_text"):
            config = LLAMA | {"model_type": family, "query_pre_attn_scalar": 2, "layer_types": ["full_attention"]}
            self.named(tiny.projections("a.self_attn.") | norms, config, "qk_norm", "k_norm.weight", also=("q_norm", "k_norm"),
                       arguments=("--layer", "0"))
        tensors = tiny.projections("") | {"q_norm.weight": random(1, 2)}
        self.named(tensors, LLAMA, "qk_norm")

    def test_sinks(self):
        self.named(tiny.projections("self_attn.") | {"self_attn.sinks": random(1, 4)}, LLAMA, "sinks", "self_attn.sinks")

    def test_rope_scaling(self):
        for key, scaling in (("rope_scaling", {"rope_type": "llama3", "factor": 8}), ("rope_scaling", {"type": "linear", "factor": 2}),
                             ("rope_parameters", {"rope_type": "yarn", "rope_theta": 10000}), ("rope_scaling", {"factor": 2})):
            self.named(tiny.projections(""), LLAMA | {key: scaling}, "rope_scaling", key)

    def test_added_keys_and_values(self):
        tensors = tiny.torch_mha() | {"bias_k": random(1, 1, 1, 8), "bias_v": random(2, 1, 1, 8)}
        self.model(tensors)
        self.refused("--heads", "2", words=("bias_k", "bias_v", "--ignore bias_k,bias_v"))
        self.refused("--heads", "2", "--ignore", "bias_k", words=("--ignore bias_v",))
        account, _ = self.imports("--heads", "2", "--ignore", "bias_k,bias_v")
        self.says(account, "without bias_k", "without bias_v")

    def test_relative_positions(self):
        self.named(tiny.bert(""), BERT | {"position_embedding_type": "relative_key"}, "position_embedding_type", "relative_key")
        tensors = tiny.bert("") | {"attention.self.distance_embedding.weight": random(1, 9, 4)}
        self.named(tensors, BERT | {"position_embedding_type": "relative_key_query"}, "position_embedding_type")
        self.model(tiny.bert(""), BERT | {"position_embedding_type": "absolute"})
        self.imports()

    def test_layers_of_another_type(self):
        config = LLAMA | {"layer_types": ["chunked_attention"]}
        self.named(tiny.projections(llama_layer(0)), config, "layer_type", "chunked_attention")

    def test_looking_both_ways(self):
        self.named(tiny.projections(""), LLAMA | {"is_causal": False}, "bidirectional", "is_causal")
        self.named(tiny.projections(""), LLAMA | {"use_bidirectional_attention": True}, "bidirectional")

    def test_parts_that_nobody_knows(self):
        self.named(tiny.bert("") | {"attention.self.query_global.weight": random(1, 8, 8)}, BERT, "attention.self.query_global")
        self.named(tiny.projections("attn.") | {"attn.q_proj.lora_A.weight": random(1, 2, 8)}, LLAMA, "q_proj.lora_A")
        self.named(tiny.projections("") | {"q_proj.weight_scale": random(1, 8)}, LLAMA, "q_proj.weight_scale")
        self.model(tiny.projections("") | {"norm.weight": random(1, 8), "mlp.up.weight": random(1, 8)}, LLAMA)
        self.imports()


if __name__ == "__main__":
    unittest.main()
