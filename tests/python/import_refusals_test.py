"""mha import: what cannot be imported, and what can only without a part of it."""

import unittest

import tiny_models as tiny
from importing import BERT, GEMMA2, GPT2, LLAMA, Importing, llama_layer
from tiny_models import random


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

    def test_attentions_that_are_not_whole(self):
        first, second = tiny.projections(llama_layer(0)), tiny.projections(llama_layer(1))
        del second[llama_layer(1) + "o_proj.weight"]
        lacks = ("not whole", '"model.layers.1.self_attn.o_proj.weight" is missing', "model.safetensors.index.json")
        self.refuses(first | second, LLAMA, *lacks, arguments=("--layer", "1"))
        self.refuses(first | second, LLAMA, *lacks)
        self.refuses(second, LLAMA, *lacks)
        self.imports("--layer", "0", model=self.model(first | second, LLAMA))

    def test_a_name_that_does_not_say_the_format(self):
        self.model(tiny.projections(""), LLAMA, name="weights.bin")
        for language, words in (("en", ("weights.bin", "rename")), ("zh", ("weights.bin", "请改名"))):
            self.refused("--lang", language, words=words, model="weights.bin")

    def test_families_that_contradict(self):
        self.refuses(tiny.projections(""), LLAMA, "--family mistral", "llama", arguments=("--family", "mistral"))
        self.refuses(tiny.bert(""), BERT, "--family llama", "bert", arguments=("--family", "llama"))
        self.refuses(tiny.bert(""), BERT, "lama", "llama", arguments=("--family", "lama"))

    def test_configs_that_do_not_fit_the_shapes(self):
        tensors = tiny.projections("a.")
        rows = [({"hidden_size": 6}, "hidden_size", "6", "a.q_proj.weight", "8"),
                ({"num_attention_heads": 2}, "size 4 (by the shapes)", "num_key_value_heads", "a.k_proj.weight"),
                ({"num_attention_heads": 3}, "3 heads", "a.q_proj.weight", "8×8"),
                ({"head_dim": 4}, "head_dim", "16 columns", "a.q_proj.weight", "8×8"),
                ({"num_key_value_heads": 4}, "num_key_value_heads", "8 columns", "a.k_proj.weight", "4×8"),
                ({"num_key_value_heads": None}, "num_key_value_heads", "a.k_proj.weight")]
        for change, *words in rows:
            with self.subTest(change):
                self.refuses(tensors, LLAMA | change, *words)
        self.refuses(tensors, LLAMA | {"attention_bias": True}, "attention_bias", "a.q_proj.bias")
        self.refuses(tiny.projections("a.", biases="qkvo"), LLAMA | {"attention_bias": False}, "attention_bias", "a.q_proj.bias")

    def test_values_of_no_concern_may_be_anything(self):
        for value in ("[[5, 5], [1]]", "[1, [2]]", '[1, "a", {"b": null}]', '[null, {"x": 1}]', '[[1], {"a": 1}]', "1e999",
                      "[1e999]", "[[], 1]"):
            with self.subTest(value):
                self.model(tiny.projections(""), LLAMA)
                config = self.folder / "config.json"
                config.write_text(config.read_text().rstrip().removesuffix("}") + f', "zzz": {value}}}')
                self.imports(model=self.folder)

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
        self.refused(words=("config.json:1:1", "line 1, column 2"))

    def test_keys_that_are_not_used_may_hold_anything(self):
        layer = tiny.projections(llama_layer(1))
        qwen = LLAMA | {"model_type": "qwen2"}
        rows = [(layer, qwen | {"use_sliding_window": False, "max_window_layers": "x"}, "sliding_window", "max_window_layers"),
                (layer, qwen, "sliding_window", "max_window_layers", "query_pre_attn_scalar"),
                (layer, qwen | {"use_sliding_window": True, "max_window_layers": 2}, "sliding_window"),
                (layer, GEMMA2, "sliding_window", "scale_attn_weights", "rope_local_base_freq"),
                (layer, LLAMA | {"layer_types": ["x", "full_attention"]}, "sliding_window"),
                (layer, LLAMA, "sliding_window", "sliding_window_pattern", "use_sliding_window", "attn_logit_softcapping",
                 "text_config", "is_decoder", "position_embedding_type", "vocab_size"),
                (tiny.bert(""), BERT, "rope_theta", "rope_scaling", "rope_parameters", "layer_types", "sliding_window",
                 "attention_bias", "text_config", "is_causal", "partial_rotary_factor", "num_key_value_heads", "head_dim",
                 "hidden_act", "layer_norm_eps"),
                (tiny.gpt2("h.0."), GPT2, "text_config", "rope_parameters", "sliding_window", "attention_bias", "is_decoder",
                 "position_embedding_type", "num_key_value_heads", "head_dim", "mlp_bias"),
                (layer, LLAMA | {"model_type": "mistral"}, "attention_bias", "mlp_bias", "hidden_act", "rms_norm_eps"),
                (layer, qwen, "attention_bias", "num_hidden_layers"),
                (tiny.torch_mha(), {"num_heads": 2}, "num_key_value_heads", "head_dim", "model_type", "text_config", "rope_theta", "is_decoder", "layer_types")]
        for tensors, config, *keys in rows:
            for key in keys:
                for value in ("strange", -1, 0.5, [None], {"a": []}, True):
                    with self.subTest(config=config, key=key, value=value):
                        self.model(tensors, config | {key: value})
                        self.imports()

    def test_values_that_cannot_be(self):
        self.refuses(tiny.projections(""), LLAMA | {"rope_theta": 0}, "config.json:1:", "rope_theta", "above 0")
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
        self.refuses(tiny.gpt2("h.0.") | {"h.0.attn.c_attn.weight": random(1, 8, 16)}, GPT2, "c_attn.weight", "8×16", "in×out")
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
