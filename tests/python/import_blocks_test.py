"""mha import --block and --layers: whole layers of every family, against NumPy and against what transformers computed."""

import json
import shutil
import unittest

import numpy
import tiny_models as tiny
from importing import BERT, GEMMA2, GPT2, LLAMA, Importing
from mha import SOURCE, run
from tiny_models import D_MODEL, random

RECORDED = SOURCE / "tests" / "transformers"
GEMMA = LLAMA | {"model_type": "gemma"}


def llama_block(layer):
    return f"model.layers.{layer}."


class Blocks(Importing):
    def trace(self, *arguments):
        result = run("run", "problem.json", "--format", "json", *arguments, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return json.loads(result.stdout)

    def refuses(self, tensors, config, *words, arguments=("--block",)):
        (self.folder / "problem.json").unlink(missing_ok=True)
        (self.folder / "config.json").unlink(missing_ok=True)
        self.model(tensors, config)
        return self.refused(*arguments, words=words)


def result_of(layer, rules):
    return layer["mlp_norm" if rules["norm_place"] == "post" else "mlp_residual"]


class Recorded(Blocks):
    """Models and hidden states that record_transformers.py made. BERT and GPT-2 compute in double there; the others take
    their norms and angles through float."""

    def agrees_with(self, family, first, last, tolerance):
        shutil.copytree(RECORDED / family, self.folder / family, dirs_exist_ok=True)
        states = numpy.load(RECORDED / family / "hidden_states.npy")
        numpy.save(self.folder / "X.npy", states[first])
        self.imports("--layers", f"{first}-{last}", "--x", "X.npy", model=family)
        trace = self.trace()
        results = [result_of(*both) for both in zip(trace["layers"], trace["config"]["layers"])]
        results[-1] = trace.get("final_norm", results[-1])
        self.assertEqual("final_norm" in trace, family != "bert" and last == 1)
        numpy.testing.assert_allclose(results, states[first + 1:last + 2], rtol=0, atol=tolerance)

    def test_every_family(self):
        for family in ("bert", "gpt2", "llama", "mistral", "qwen2", "gemma"):
            for first, last in ((0, 1), (0, 0), (1, 1)):
                with self.subTest(family=family, layers=(first, last)):
                    self.agrees_with(family, first, last, 1e-12 if family in ("bert", "gpt2") else 1e-5)


class Families(Blocks):
    """One block, held against NumPy to the last digits."""

    def agrees_in(self, tensors, kind, prefix, config, heads, kv_heads, activation, eps, *arguments, **rules):
        self.model(tensors, config)
        account, problem = self.imports("--x", "X.npy", "--block", *arguments)
        result = result_of(self.trace(), {"norm_place": problem["norm_place"]})
        true = tiny.layer(self.x, tensors, kind, prefix, heads, kv_heads, activation, eps, **rules)
        numpy.testing.assert_allclose(result, true, rtol=0, atol=1e-12)
        return account, problem

    def test_bert(self):
        tensors = tiny.bert("bert.encoder.layer.0.") | tiny.bert("bert.encoder.layer.1.", 50)
        account, problem = self.agrees_in(tensors, "bert", "bert.encoder.layer.1.", BERT, 2, 2, "gelu", 1e-12, "--layer", "1")
        self.says(account, "behind the residual sums", "eps 1e-12, the default", "gelu", "bert.encoder.layer.1.*")
        self.assertEqual(problem["title"]["en"], "BERT, layer 1: the whole block")
        self.says(problem["description"]["en"], "X is what comes in (what layer 0 gives)")
        self.assertEqual(problem["norm"]["gamma"], {"file": "model.safetensors",
                                                    "tensor": "bert.encoder.layer.1.attention.output.LayerNorm.weight"})
        self.assertTrue(problem["residual"])
        self.agrees_in(tensors, "bert", "bert.encoder.layer.0.", BERT | {"is_decoder": True}, 2, 2, "gelu", 1e-12,
                       "--layer", "0", causal=True)

    def test_what_config_says(self):
        tensors = tiny.bert("layer.0.")
        for name, activation in (("relu", "relu"), ("gelu_new", "gelu_tanh"), ("gelu_pytorch_tanh", "gelu_tanh"), ("silu", "silu"),
                                 ("swish", "silu"), ("gelu", "gelu"), ("linear", "none")):
            config = BERT | {"hidden_act": name, "layer_norm_eps": 0.1}
            account, problem = self.agrees_in(tensors, "bert", "layer.0.", config, 2, 2, activation, 0.1)
            self.says(account, "layer_norm_eps in config.json", f"MLP with {activation} (hidden_act in config.json)")
            self.assertEqual(problem["mlp"]["activation"], activation)
        tensors = tiny.llama(llama_block(0))
        config = LLAMA | {"hidden_act": "gelu", "rms_norm_eps": 0.2}
        self.agrees_in(tensors, "llama", llama_block(0), config, 4, 2, "gelu", 0.2, causal=True, base=10000)

    def test_gpt2(self):
        tensors = tiny.gpt2("h.0.")
        account, problem = self.agrees_in(tensors, "gpt2", "h.0.", GPT2, 2, 2, "gelu_tanh", 1e-5, causal=True)
        self.says(account, "before the sublayers", "layer 0: h.0.*")
        self.says(problem["description"]["en"], "the embeddings as the model hands them to its layers")
        config = GPT2 | {"activation_function": "relu", "layer_norm_epsilon": 0.3}
        self.agrees_in(tensors, "gpt2", "h.0.", config, 2, 2, "relu", 0.3, causal=True)

    def test_gpt2_that_lies_as_linears(self):
        tensors = tiny.gpt2("h.0.")
        turned = {name: array.T if name.endswith((".c_attn.weight", ".c_proj.weight", ".c_fc.weight")) else array
                  for name, array in tensors.items()}
        self.model(turned, GPT2)
        self.imports("--x", "X.npy", "--block")
        true = tiny.layer(self.x, tensors, "gpt2", "h.0.", 2, 2, "gelu_tanh", 1e-5, causal=True)
        numpy.testing.assert_allclose(self.trace()["mlp_residual"], true, rtol=0, atol=1e-12)

    def test_llama(self):
        tensors = tiny.llama(llama_block(3), biases="qkvo", mlp_biases=True)
        config = LLAMA | {"attention_bias": True, "mlp_bias": True, "rms_norm_eps": 1e-5, "rope_theta": 500}
        account, problem = self.agrees_in(tensors, "llama", llama_block(3), config, 4, 2, "silu", 1e-5, causal=True, base=500)
        self.says(account, "silu and a gate", "rms norms before the sublayers")
        self.assertEqual(problem["mlp"]["W_gate"]["tensor"], "model.layers.3.mlp.gate_proj.weight")
        self.assertIn("b_gate", problem["mlp"])
        self.refuses(tensors, config | {"mlp_bias": False}, "mlp_bias", "model.layers.3.mlp.up_proj.bias")
        self.imports(model=self.model(tensors, config | {"mlp_bias": False}))

    def test_mistral_and_qwen_2(self):
        tensors = tiny.llama(llama_block(1), biases="qkv")
        for family in ("mistral", "qwen2"):
            config = LLAMA | {"model_type": family, "sliding_window": 2, "use_sliding_window": True, "max_window_layers": 0}
            self.agrees_in(tensors, "llama", llama_block(1), config, 4, 2, "silu", 1e-6, causal=True, base=10000, window=2)

    def test_gemma_1(self):
        """Its files hold gamma less 1, and gelu stands for the tanh form."""
        tensors = tiny.llama(llama_block(0), d_k=4)
        for change in ({}, {"hidden_act": "gelu"}, {"hidden_act": "gelu_pytorch_tanh"}):
            _, problem = self.agrees_in(tensors, "llama", llama_block(0), GEMMA | {"head_dim": 4} | change, 4, 2, "gelu_tanh",
                                        1e-6, causal=True, base=10000, gemma=True)
            gamma = tensors[llama_block(0) + "input_layernorm.weight"].astype(float) + 1
            self.assertEqual(problem["norm"]["gamma"], gamma.tolist())
        numpy.savez(self.folder / "model.npz", **tensors)
        (self.folder / "model.safetensors").unlink()
        self.assertEqual(self.imports("--block", model="model.npz")[1]["norm"]["gamma"], gamma.tolist())


class Stacks(Blocks):
    def llama(self, count=3, final=True, config=None, prefix="model."):
        tensors = {k: v for i in range(count) for k, v in tiny.llama(f"{prefix}layers.{i}.", seed=40 * i).items()}
        if final:
            tensors[f"{prefix}norm.weight"] = random(5, D_MODEL)
        self.model(tensors, LLAMA if config is None else config)
        return tensors

    def true(self, tensors, first, last, prefix="model."):
        x = self.x
        for i in range(first, last + 1):
            x = tiny.layer(x, tensors, "llama", f"{prefix}layers.{i}.", 4, 2, "silu", 1e-6, causal=True, base=10000)
        return x

    def test_layers_follow_one_another(self):
        tensors = self.llama()
        account, problem = self.imports("--layers", "0-1", "--x", "X.npy", "--tokens", "a,b,c,d,e")
        self.assertEqual(len(problem["layers"]), 2)
        self.assertNotIn("final_norm", problem)
        self.says(account, "layers 0–1: model.layers.N.*")
        self.assertEqual(account.count("\n"), 1)
        self.assertEqual(problem["title"], {"en": "Llama, layers 0–1", "zh": "Llama，第 0–1 层"})
        numpy.testing.assert_allclose(self.trace()["layers"][1]["mlp_residual"], self.true(tensors, 0, 1), rtol=0, atol=1e-12)
        self.imports("--layers", "1,2", "--x", "X.npy")
        numpy.testing.assert_allclose(self.trace()["layers"][1]["mlp_residual"], self.true(tensors, 1, 2), rtol=0, atol=1e-12)

    def test_layers_in_another_order_are_refused(self):
        self.llama()
        for text, meant in (("1,0", "0-1"), ("0,2", "0-2"), ("1,1", "1-1"), ("0-1,1-2", "0-2"), ("2,1,0", "0-2")):
            self.refused("--layers", text, words=("write them in order, once, and leave none out", meant))

    def test_the_final_norm_stands_where_the_config_counts_no_more_layers(self):
        tensors = self.llama(count=3, config=LLAMA | {"num_hidden_layers": 3})
        self.assertIn("final_norm", self.imports("--layers", "1-2")[1])
        early = {name: tensor for name, tensor in tensors.items() if not name.startswith(llama_block(2))}  # with the norm
        self.model(early, LLAMA | {"num_hidden_layers": 3})
        account, problem = self.imports("--layers", "0-1")
        self.assertNotIn("final_norm", problem)
        self.assertNotIn("final norm", account)
        del tensors["model.norm.weight"]
        self.model(tensors, LLAMA | {"num_hidden_layers": 3})
        account, problem = self.imports("--layers", "0-2")
        self.assertNotIn("final_norm", problem)
        self.says(account, "without the model's final norm, since there is no tensor model.norm.weight")
        self.assertNotIn("final norm", self.imports("--layers", "0-1")[0])

    def test_the_final_norm(self):
        for prefix in ("model.", "", "a.model."):
            tensors = self.llama(prefix=prefix)
            account, problem = self.imports("--layers", "1-2", "--x", "X.npy")
            self.says(account, f"then the final norm ({prefix}norm.weight)")
            self.says(problem["description"]["en"], "after the model's final norm")
            true = tiny.rms_norm(self.true(tensors, 1, 2, prefix), tensors[f"{prefix}norm.weight"].astype(float), 1e-6)
            numpy.testing.assert_allclose(self.trace()["final_norm"], true, rtol=0, atol=1e-12)

    def test_gemma_s_final_norm_too(self):
        tensors = self.llama(config=GEMMA)
        gamma = tensors["model.norm.weight"].astype(float) + 1
        self.assertEqual(self.imports("--layers", "2")[1]["final_norm"]["gamma"], gamma.tolist())

    def test_which_layer_is_the_last(self):
        self.llama(count=11)
        self.assertIn("final_norm", self.imports("--layers", "10")[1])
        self.assertNotIn("final_norm", self.imports("--layers", "9")[1])
        self.assertNotIn("final_norm", self.imports("--layer", "10", "--block")[1])
        self.llama(final=False)
        account, problem = self.imports("--layers", "0-2")
        self.assertNotIn("final_norm", problem)
        self.says(account, "there is no tensor model.norm.weight")

    def test_layers_that_differ_are_told_apart(self):
        config = LLAMA | {"model_type": "qwen2", "use_sliding_window": True, "sliding_window": 2, "max_window_layers": 1}
        self.llama(config=config)
        account, problem = self.imports("--layers", "0-2", "--x", "X.npy")
        lines = account.splitlines()
        self.assertEqual(len(lines), 2)
        self.says(lines[0], "layer 0: model.layers.0.*", "without a window")
        self.says(lines[1], "layers 1–2: model.layers.N.*", "window of 2 keys", "final norm")
        self.assertEqual([layer["mask"] for layer in problem["layers"]],
                         ["causal"] + [["causal", {"window": {"left": 1, "right": 0}}]] * 2)

    def test_gpt2_keeps_its_scales_and_its_layout(self):
        tensors = {k: v for i in range(2) for k, v in tiny.gpt2(f"h.{i}.", 30 * i).items()}
        tensors |= {"ln_f.weight": random(8, D_MODEL), "ln_f.bias": random(9, D_MODEL)}
        self.model(tensors, GPT2 | {"scale_attn_by_inverse_layer_idx": True})
        _, problem = self.imports("--layers", "0-1", "--x", "X.npy")
        self.assertEqual(problem["layout"], "x@W")
        x = self.x
        for i in range(2):
            x = tiny.layer(x, tensors, "gpt2", f"h.{i}.", 2, 2, "gelu_tanh", 1e-5, causal=True, scale=0.5 / (i + 1))
        true = tiny.layer_norm(x, tensors["ln_f.weight"].astype(float), tensors["ln_f.bias"].astype(float), 1e-5)
        numpy.testing.assert_allclose(self.trace()["final_norm"], true, rtol=0, atol=1e-12)
        del tensors["ln_f.bias"]
        self.refuses(tensors, GPT2, "ln_f.bias", arguments=("--layers", "0-1"))

    def test_lists_of_layers(self):
        self.llama()
        for layers, *words in (("0,2", "0-2"), ("2-1", "backwards"), ("x", "'x'"), ("", "--layers"), ("0-3", "no layer 3", "0–2"),
                               ("7", "layer 7")):
            self.refused("--layers", layers, words=words)
        self.refused("--layers", "0-1", "--layer", "0", words=("--layer and --layers",))
        self.refuses(tiny.llama(""), LLAMA, "do not say which layer", arguments=("--layers", "0-1"))
        self.says(self.imports("--block")[1]["description"]["en"], "X is what comes in; the result is what comes out.")

    def test_one_of_two_towers(self):
        towers = [self.llama(2, prefix=f"{name}.") for name in ("text", "vision")]
        self.model(towers[0] | towers[1], LLAMA)
        self.refused("--layers", "0-1", words=("--prefix", "text.layers.0.self_attn."))
        _, problem = self.imports("--layers", "0-1", "--prefix", "vision", "--x", "X.npy")
        true = tiny.rms_norm(self.true(towers[1], 0, 1, "vision."), towers[1]["vision.norm.weight"].astype(float), 1e-6)
        numpy.testing.assert_allclose(self.trace()["final_norm"], true, rtol=0, atol=1e-12)
        self.assertEqual(problem["final_norm"]["gamma"]["tensor"], "vision.norm.weight")

    def test_shards_npz_batches_and_half_precision(self):
        tensors = {name: array.astype(numpy.float16) for name, array in self.llama(2).items()}
        batch = numpy.stack([self.x, self.x[::-1]])
        numpy.save(self.folder / "X.npy", batch)
        names = sorted(tensors)
        for i in range(2):
            self.model({name: tensors[name] for name in names[i::2]}, name=f"model-{i}.safetensors")
        index = {"weight_map": {name: f"model-{i % 2}.safetensors" for i, name in enumerate(names)}}
        (self.folder / "model.safetensors.index.json").write_text(json.dumps(index))
        numpy.savez(self.folder / "model.npz", **tensors)
        for model in ("model.safetensors.index.json", "model.npz"):
            self.imports("--layers", "0-1", "--x", "X.npy", model=model)
            results = self.trace()["final_norm"]
            for self.x, result in zip(batch, results):
                true = tiny.rms_norm(self.true(tensors, 0, 1), tensors["model.norm.weight"].astype(float), 1e-6)
                numpy.testing.assert_allclose(result, true, rtol=0, atol=1e-12)

    def test_other_commands_look_into_an_imported_stack(self):
        self.llama(2)
        self.imports("--layers", "0-1", "--x", "X.npy")
        result = run("explain", "problem.json", "layer2.A1[3,2]", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        (self.folder / "answer.json").write_text(json.dumps(self.trace()))
        self.assertEqual(run("check", "problem.json", "answer.json", cwd=self.folder).returncode, 0)
        result = run("cost", "problem.json", "--format", "json", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr.decode())

    def test_what_is_missing_is_told(self):
        self.llama()
        account, _ = self.imports("--layers", "0-1")
        self.says(account, "X is still missing, with 8 columns")
        result = run("run", "problem.json", cwd=self.folder)
        self.assertEqual(result.returncode, 2)
        self.says(result.stderr.decode(), '"X" is missing')


class Refusals(Blocks):
    def test_parts_that_are_not_computed(self):
        tensors = tiny.llama(llama_block(0))
        rows = [("sandwich_norm", "post_feedforward_layernorm.weight"), ("experts", "mlp.experts.3.up_proj.weight"),
                ("cross_attention", "crossattention.q_attn.weight"), ("mlp.extra", "mlp.extra.weight"),
                ("input_layernorm", "input_layernorm.bias")]
        for name, tensor in rows:
            found = tensors | {llama_block(0) + tensor: random(1, D_MODEL)}
            self.refuses(found, LLAMA, f"--ignore {name}", tensor)
            account, problem = self.imports("--block", "--ignore", name)
            self.says(account, f"without {name}")
            self.assertIn(name, problem["description"]["zh"])
            self.imports()

    def test_gemma_2(self):
        norms = {f"{llama_block(0)}{when}_feedforward_layernorm.weight": random(1, D_MODEL) for when in ("pre", "post")}
        for family in ("gemma2", "gemma3_text"):
            config = GEMMA2 | {"model_type": family}
            self.refuses(tiny.llama(llama_block(0)) | norms, config, "sandwich_norm", "the norms of what the sublayers give")
            self.refuses(tiny.llama(llama_block(0)) | norms, config, "sandwich_norm", arguments=("--layers", "0"))

    def test_families_without_a_block(self):
        self.refuses(tiny.torch_mha("layers.0.self_attn."), None, "--block", "MultiheadAttention",
                     arguments=("--block", "--heads", "2"))
        self.refuses(tiny.projections("self_attn."), None, "--block", "plain attention",
                     arguments=("--layers", "0", "--heads", "4", "--family", "plain"))

    def test_blocks_that_are_not_whole(self):
        for tensors, config, name in ((tiny.llama("l.0."), LLAMA, "mlp.down_proj.weight"), (tiny.llama("l.0."), LLAMA, "input_layernorm.weight"),
                                      (tiny.bert("l.0."), BERT, "output.LayerNorm.bias"), (tiny.gpt2("l.0."), GPT2, "mlp.c_fc.bias")):
            del tensors["l.0." + name]
            self.refuses(tensors, config, f'"l.0.{name}" is missing', "model.safetensors.index.json")
            self.imports()

    def test_shapes_that_do_not_fit(self):
        rows = [("mlp.up_proj.weight", (6, 7), "from 7 to 6"), ("mlp.gate_proj.weight", (5, 8), "expected from 8 to 6"),
                ("mlp.down_proj.weight", (8, 5), "expected from 6 to 8"), ("input_layernorm.weight", (7,), "8 numbers"),
                ("self_attn.o_proj.weight", (6, 8), "one width")]
        for name, shape, word in rows:
            self.refuses(tiny.llama("l.0.") | {f"l.0.{name}": random(1, *shape)}, LLAMA, f"l.0.{name}", word)

    def test_values_of_config(self):
        tensors = tiny.llama("l.0.")
        for key, value, word in (("hidden_act", "quick_gelu", "gelu_pytorch_tanh"), ("hidden_act", 3, "text"),
                                 ("rms_norm_eps", -1, "above 0"), ("rms_norm_eps", "x", "finite"), ("mlp_bias", 1, "true or false")):
            self.refuses(tensors, LLAMA | {key: value}, "config.json:1:", key, word)
            self.imports()
        for config, *keys in ((LLAMA, "layer_norm_eps", "activation_function", "num_hidden_layers"),
                              (LLAMA | {"model_type": "mistral"}, "mlp_bias", "attention_bias", "layer_norm_eps")):
            for key in keys:
                self.model(tensors, config | {key: "strange"})
                self.imports("--block")

    def test_another_input_for_keys(self):
        self.refuses(tiny.bert("l.0."), BERT, "--x-kv", "block", arguments=("--block", "--x", "X.npy", "--x-kv", "X.npy"))

    def test_numbers_that_are_none(self):
        tensors = tiny.llama("l.0.")
        tensors["l.0.input_layernorm.weight"][2] = numpy.nan
        self.refuses(tensors, GEMMA, "model.safetensors", "nan at [2]", "input_layernorm.weight")


if __name__ == "__main__":
    unittest.main()
