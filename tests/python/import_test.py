"""mha import: tiny models of every family, imported and run, against NumPy."""

import unittest

import numpy
import tiny_models as tiny
from importing import BERT, GEMMA2, GPT2, LLAMA, Importing, llama_layer
from tiny_models import D_MODEL, random


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
        self.says(self.refused_after("--heads", "2", "--x", "X.npy"), "6 columns", "8", "--x-kv")
        account, _ = self.imports("--heads", "2")
        self.says(account, "X is still missing, with 8 columns", "X_kv is still missing, with 6 columns")

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
        self.model(tensors, LLAMA | {"model_type": "gemma"})  # whose heads are not hidden_size/num_attention_heads wide
        self.agrees(tensors, "projections", llama_layer(0), 4, 2, base=10000, causal=True)
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


if __name__ == "__main__":
    unittest.main()
