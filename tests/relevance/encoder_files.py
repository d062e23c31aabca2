"""A transformer so small that a test can make it: a vocabulary of letters and a few words."""

import json
import string

import numpy as np

WORDS = "whale reef coral fish engine tax law the of and".split()
PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    *string.ascii_lowercase,
    *(f"##{letter}" for letter in string.ascii_lowercase),
    "##s",
    "##ing",
    *WORDS,
]
PIECES = list(dict.fromkeys(PIECES))
HIDDEN, HEADS, LAYERS, WIDE, LONGEST = 8, 2, 2, 16, 160
CONFIG = {
    "model_type": "bert",
    "hidden_size": HIDDEN,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-12,
    "vocab_size": len(PIECES),
}


def bert_weights(seed=3):
    """Weights of a BERT, by the names that transformers gives them."""
    rng = np.random.default_rng(seed)

    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    weights = {
        "embeddings.word_embeddings.weight": normal(len(PIECES), HIDDEN),
        "embeddings.position_embeddings.weight": normal(LONGEST, HIDDEN),
        "embeddings.token_type_embeddings.weight": normal(2, HIDDEN),
    }
    norms, dense = ["embeddings.LayerNorm"], {}
    for layer in (f"encoder.layer.{number}" for number in range(LAYERS)):
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            dense[f"{layer}.attention.{part}"] = (HIDDEN, HIDDEN)
        dense[f"{layer}.intermediate.dense"] = (WIDE, HIDDEN)
        dense[f"{layer}.output.dense"] = (HIDDEN, WIDE)
    for name in norms:
        weights |= {f"{name}.weight": 1 + normal(HIDDEN) / 9, f"{name}.bias": normal(HIDDEN) / 9}
    for name, shape in dense.items():
        weights |= {f"{name}.weight": normal(*shape) / 2, f"{name}.bias": normal(shape[0]) / 9}
    return weights


def tokenizer_json():
    """A tokenizer.json, as transformers writes it for a lower-case BERT; it pads, as many do."""
    ends = {token: {"id": token, "ids": [PIECES.index(token)], "tokens": [token]}
            for token in ("[CLS]", "[SEP]")}  # fmt: skip
    single = [
        {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": {
            "strategy": {"Fixed": 128},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        },
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": single,
            "pair": single,
            "special_tokens": ends,
        },
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {piece: place for place, piece in enumerate(PIECES)},
        },
    }


def write_bert(directory, weights=None, **config):
    """A directory as sentence-transformers writes it."""
    from safetensors.numpy import save_file

    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.json").write_text(json.dumps(CONFIG | config))
    (directory / "tokenizer.json").write_text(json.dumps(tokenizer_json()))
    save_file(weights or bert_weights(), directory / "model.safetensors")
    return directory
