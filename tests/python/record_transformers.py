"""Records what Hugging Face's transformers compute, for import_blocks_test.py: tiny random models as that library saves them,
and every hidden state of five tokens. To be run by hand where torch and transformers are installed:

    python3 tests/python/record_transformers.py
"""

from pathlib import Path

import numpy
import torch
import transformers

FOLDER = Path(__file__).resolve().parent.parent / "transformers"
LLAMA = {"vocab_size": 16, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 16, "pad_token_id": None, "bos_token_id": 1, "eos_token_id": 2}
BERT = {"vocab_size": 16, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2,
        "max_position_embeddings": 16, "type_vocab_size": 2}
MODELS = {
    "bert": transformers.BertConfig(**BERT),
    "gpt2": transformers.GPT2Config(vocab_size=16, n_embd=8, n_layer=2, n_head=2, n_positions=16),
    "llama": transformers.LlamaConfig(**LLAMA, rms_norm_eps=1e-5, rope_theta=500.0, attention_bias=True, mlp_bias=True),
    "mistral": transformers.MistralConfig(**LLAMA, sliding_window=2),
    "qwen2": transformers.Qwen2Config(**LLAMA, use_sliding_window=True, sliding_window=3, max_window_layers=1),
    "gemma": transformers.GemmaConfig(**LLAMA, head_dim=4),
}


def record(name, config):
    torch.manual_seed(7)
    model = transformers.AutoModel.from_config(config, attn_implementation="eager").eval()
    for parameter in model.parameters():  # norms and biases too, which begin as 1 and 0
        parameter.data = torch.randn_like(parameter) * 0.5
    folder = FOLDER / name
    model.save_pretrained(folder)
    with torch.no_grad():
        states = model.double()(torch.tensor([[3, 1, 4, 1, 5]]), output_hidden_states=True).hidden_states
    numpy.save(folder / "hidden_states.npy", numpy.array([state[0].numpy() for state in states]))


for model_name, model_config in MODELS.items():
    record(model_name, model_config)
