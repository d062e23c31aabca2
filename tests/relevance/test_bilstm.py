"""The neural models: what they learn, and that serving them changes nothing."""

import hashlib
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from tres.errors import ModelError, TrainingError
from tres.relevance.model_kinds import load_model
from tres.relevance.neural.bilstm import LINEAR, TABLE, batches_by_length
from tres.relevance.neural.fit_lstm import augment, epochs_for, relevant_weight
from tres.relevance.neural.lstm_network import BiLstm, averaged
from tres.relevance.neural.word_table import MAX_TOKENS, RaggedRows, network_tokens
from tres.relevance.tfidf import terms

AGAIN = "copy the model again or train it anew"


@pytest.fixture(params=["bilstm", "kw-bilstm"])
def model(request, bilstm, kw_bilstm):
    return bilstm if request.param == "bilstm" else kw_bilstm


@pytest.fixture
def ragged(pages):
    """Texts of many lengths, from one word to more than a network reads."""
    return [" ".join(text.split()[:n]) for n, text in enumerate(pages[0], 1)] + [
        "\n" + pages[0][0] * 20,
        "Whale\nwall",
    ]


def test_words_that_no_training_page_holds_are_judged_by_their_vectors(bilstm):
    octopus, gearbox = bilstm.probabilities(["octopus squid", "gearbox gearbox"])

    assert octopus > gearbox


def torch_answers(model, texts):
    """What torch says, without onnxruntime, from the weights that a model keeps."""
    batch, linear_rows = model.table.network_and_linear_rows(texts)
    numbers = model._shortcut(texts, linear_rows)
    weights = {
        n: torch.tensor(a)
        for n, a in model.arrays.items()
        if not n.startswith(("probe.", "linear."))
    }
    hidden = weights["forwards.weight_hh_l0"].shape[1]
    network = BiLstm(model.table.matrix.shape[1], numbers.shape[1], hidden)
    network.load_state_dict(weights)
    network.eval()
    rows, lengths = batch.padded(np.arange(len(texts)))
    x = torch.tensor(model.table.matrix[rows].astype(np.float32).transpose(1, 0, 2))
    with torch.no_grad():
        logits = network(x, torch.tensor(lengths, dtype=torch.int64), torch.tensor(numbers))
    return torch.sigmoid(logits).numpy()


def test_its_logit_is_the_mean_of_the_learnt_one_and_the_linear_models():
    torch.manual_seed(1)
    learnt = BiLstm(4, 3, 5).eval()
    x, lengths, shortcut = torch.randn(6, 7, 4), torch.tensor([7, 1, 3, 7, 2, 5]), torch.randn(6, 3)
    with torch.no_grad():
        before = learnt(x, lengths, shortcut)
        after = averaged(learnt)(x, lengths, shortcut)

    torch.testing.assert_close(after, (before + shortcut[:, 0]) / 2)


def test_predictions_equal_those_of_torch_on_ragged_batches(model, ragged):
    np.testing.assert_allclose(model.probabilities(ragged), torch_answers(model, ragged), atol=1e-5)


def test_a_packed_bidirectional_lstm_gives_the_same(bilstm, ragged):
    batch, _ = bilstm.table.network_and_linear_rows(ragged)
    rows, lengths = batch.padded(np.arange(len(ragged)))
    x = torch.tensor(bilstm.table.matrix[rows].astype(np.float32).transpose(1, 0, 2))
    network = BiLstm(x.shape[2], 1, 5)
    both = torch.nn.LSTM(x.shape[2], 5, batch_first=True, bidirectional=True)
    state = {n: p for n, p in network.forwards.named_parameters()}
    state |= {f"{n}_reverse": p for n, p in network.backwards.named_parameters()}
    both.load_state_dict(state)
    n = torch.tensor(lengths, dtype=torch.int64)
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, n, batch_first=True, enforce_sorted=False)
    states, _ = torch.nn.utils.rnn.pad_packed_sequence(both(packed)[0], batch_first=True)
    seen = []
    network.hidden.register_forward_hook(lambda layer, given, out: seen.append(given[0]))

    network.eval()(x, n, torch.zeros(len(n), 1))

    mean = states.sum(1) / n[:, None]
    assert torch.allclose(seen[0][:, :10], mean, atol=1e-6)


def test_texts_that_repeat_are_read_once(bilstm, monkeypatch):
    sizes = []
    inner = bilstm.table.network_and_linear_rows
    monkeypatch.setattr(
        type(bilstm.table),
        "network_and_linear_rows",
        lambda self, t: sizes.append(len(t)) or inner(t),
    )

    answers = bilstm.probabilities(["coral", "tax", "coral", "coral"])

    assert sizes == [2]
    assert answers[0] == answers[2] == answers[3] != answers[1]


# Training


def test_another_seed_gives_another_network_and_torch_keeps_its_state(train, pages, bilstm):
    before = torch.get_num_threads(), torch.random.get_rng_state()

    assert train("bilstm", *pages).digest == bilstm.digest
    assert train("bilstm", *pages, seed=4).digest != bilstm.digest
    assert torch.get_num_threads() == before[0]
    assert torch.equal(torch.random.get_rng_state(), before[1])


@pytest.mark.parametrize(
    ("relevant", "other", "weight"), [(150, 1000, 1.0), (10, 1000, 14.94), (100, 100, 1.0)]
)
def test_relevant_pages_weigh_as_if_they_were_one_in_eight(relevant, other, weight):
    truth = np.array([True] * relevant + [False] * other)

    assert relevant_weight(truth) == pytest.approx(weight, abs=0.01)


def test_few_examples_are_shown_more_often():
    assert (epochs_for(1035), epochs_for(320), epochs_for(20)) == (12, 15, 150)


def test_progress_is_reported_from_the_first_epoch_to_the_last(train, pages):
    told = []
    train("bilstm", *pages, progress=told.append)

    assert told == sorted(told)
    assert 0 < told[0] < told[-1] <= 1


def test_keyword_counts_affect_the_answers_of_a_kw_bilstm(kw_bilstm):
    """With the same words read, only the counts differ."""
    batch, _ = kw_bilstm.table.network_and_linear_rows(["small people in a long year"])
    none, many = np.zeros((1, 4), np.float32), np.array([[0, 1, 1, 1]], np.float32)

    assert kw_bilstm._run(batch, many)[0] > kw_bilstm._run(batch, none)[0] + 0.01


def test_a_kw_bilstm_learns_from_keyword_counts_where_vectors_say_nothing(train):
    """No word here has a vector or occurs in two pages: only the counts differ."""
    secret, plain = [f"qq{i}" for i in range(60)], [f"zz{i}" for i in range(60)]
    texts = [f"\nday people {word} year small" for word in secret + plain]
    labels = np.array([True] * 60 + [False] * 60)
    model = train("kw-bilstm", texts, labels, keywords=secret[:50])

    answers = model.probabilities(texts)

    assert ((answers > 0.5) == labels)[:50].mean() > 0.95
    assert ((answers > 0.5) == labels)[60:].mean() > 0.95
    assert answers[50:60].max() < 0.5  # relevant in truth, but no keyword tells


def test_an_epoch_shows_pieces_of_pages_of_at_least_one_word():
    pages = RaggedRows(np.arange(1200, dtype=np.int32), np.array([1, 299, 300, 300, 300]))
    shown, pieces = zip(*[augment(pages, np.random.default_rng(s)) for s in range(30)], strict=True)
    starts = pages.starts

    lengths = np.array([batch.lengths for batch in shown])
    assert lengths.min() == 1
    assert (lengths[:, 0] == 1).all()
    assert 0.4 < np.mean(pieces) < 0.8
    assert lengths[np.array(pieces)].max() < 150
    for batch in shown:
        for page in range(5):
            words = batch.ids[batch.starts[page] :][: batch.lengths[page]]
            assert np.all(np.diff(words) > 0)
            assert starts[page] <= words[0] <= words[-1] < starts[page] + pages.lengths[page]


def test_a_class_without_a_known_word_cannot_train(train):
    with pytest.raises(TrainingError) as caught:
        train("bilstm", ["reef wave", "zzz"], [True, False])

    assert caught.value.message == (
        "no example page of one class holds a known word; "
        "give longer examples, or vectors of their language"
    )


# Reading


def test_the_title_is_repeated_and_long_pages_are_cut():
    assert network_tokens("Bee\nmakes honey") == ["bee", "bee", "makes", "honey"]
    assert network_tokens("anchor text") == ["anchor", "text"]
    assert len(network_tokens("t\n" + "word " * 900)) == MAX_TOKENS


def test_network_and_linear_rows_are_those_of_their_tokens(bilstm, ragged):
    network_rows, linear_rows = bilstm.table.network_and_linear_rows(ragged)

    index = bilstm.table.index
    for batch, tokens in ((network_rows, network_tokens), (linear_rows, terms)):
        expected = [sorted(index[w] for w in tokens(text) if w in index) for text in ragged]
        ends = np.cumsum(batch.lengths)[:-1]
        assert [sorted(ids) for ids in np.split(batch.ids, ends)] == expected
    assert network_rows.lengths.max() <= MAX_TOKENS < linear_rows.lengths.max()


def test_an_unknown_number_has_the_row_of_one_with_as_many_digits(bilstm):
    batch, _ = bilstm.table.network_and_linear_rows(["97", "unheard"])

    assert batch.lengths.tolist() == [1, 0]
    assert batch.ids.tolist() == [bilstm.table.index["10"]]


def test_batches_hold_all_texts_that_have_words_within_the_limits():
    lengths = np.random.default_rng(1).integers(0, 301, 700)
    batches = list(batches_by_length(lengths))

    assert sorted(np.concatenate(batches)) == np.flatnonzero(lengths).tolist()
    assert all(len(b) * lengths[b].max() <= 2400 and len(b) <= 64 for b in batches)


# Files


@pytest.fixture
def saved(bilstm, tmp_path):
    bilstm.save(tmp_path / "model")
    return tmp_path / "model"


def refusal(directory):
    with pytest.raises(ModelError) as caught:
        load_model(directory)
    assert caught.value.exit_code == 2
    return caught.value.message


def test_the_files_of_a_saved_network(saved):
    assert {file.name for file in saved.iterdir()} == {
        "model.json", "vocabulary.txt", "weights.safetensors", "exact.onnx", "network.json",
    }  # fmt: skip


def test_a_model_with_a_graph_in_8_bits_keeps_its_digest_and_answers_exactly(
    bilstm, pages, tmp_path
):
    """Earlier versions saved such models; the journals of runs name them by their digest."""
    probes = {"probe.ids": np.zeros(2, np.int32), "probe.lengths": np.array([2])}
    graphs = {**bilstm.graphs, "small.onnx": b"the graph in 8 bits"}
    old = replace(bilstm, graphs=graphs, arrays={**bilstm.arrays, **probes})
    old.save(tmp_path)
    loaded = load_model(tmp_path)

    assert loaded.digest == old.digest != bilstm.digest
    np.testing.assert_array_equal(loaded.probabilities(pages[0]), bilstm.probabilities(pages[0]))


def test_the_manifest_records_vectors_packages_and_the_best_epoch(saved):
    training = json.loads((saved / "model.json").read_text())["training"]

    assert {"torch", "onnxruntime", "safetensors"} <= training["versions"].keys()
    assert len(training["vectors"]["digest"]) == 64
    assert 1 <= training["epoch"] <= epochs_for(108)


def vouch(saved, name, content):
    """Replace a file and make the manifest vouch for it."""
    (saved / name).write_bytes(content)
    manifest = json.loads((saved / "model.json").read_text())
    del manifest["checksum"]
    manifest["sha256"][name] = hashlib.sha256(content).hexdigest()
    (saved / "model.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("weights.safetensors", b"junk", "weights.safetensors holds no arrays ("),
        ("network.json", b"[]", f"network.json is damaged; {AGAIN}"),
        (
            "network.json",
            b'{"prior": "1", "keywords": [], "phrases": []}',
            "network.json is damaged",
        ),
        ("exact.onnx", b"junk", "exact.onnx cannot answer ("),
        ("vocabulary.txt", b"one\ntwo\n", "its arrays do not fit its vocabulary; train the model"),
    ],
)
def test_a_foreign_file_that_the_manifest_vouches_for(saved, name, content, message):
    vouch(saved, name, content)

    assert refusal(saved).startswith(f"{saved}: {message}")


@pytest.mark.parametrize(
    ("kind", "shape", "size"),
    [("F16", [], 2), ("BF16", [2], 4), ("F8_E4M3", [4], 4), ("F16", [10**15], 4), ("F16", [2], 4)],
)
def test_arrays_of_other_kinds_and_shapes_are_refused(saved, kind, shape, size):
    names = ["table", *LINEAR]
    header = json.dumps(
        {
            name: {"dtype": kind, "shape": shape, "data_offsets": [size * i, size * (i + 1)]}
            for i, name in enumerate(names)
        }
    ).encode()
    vouch(saved, TABLE, len(header).to_bytes(8, "little") + header + bytes(size * len(names)))

    assert refusal(saved).startswith(f"{saved}: ")


def test_a_manifest_may_not_name_files_elsewhere(saved):
    manifest = json.loads((saved / "model.json").read_text())
    manifest["sha256"]["../secret"] = "0"
    (saved / "model.json").write_text(json.dumps(manifest))

    assert refusal(saved) == (
        f"{saved / 'model.json'}: names files outside of its directory; do not trust this model"
    )


def test_the_command_line_starts_without_the_optional_packages():
    heavy = {"torch", "onnx", "onnxruntime", "safetensors", "sklearn"}
    code = f"import sys, tres.cli; print(sorted({heavy!r} & set(sys.modules)))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
