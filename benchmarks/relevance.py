"""How fast relevance models answer, and how long a network trains. One thread.

    python benchmarks/relevance.py benchmarks/topics/biology.toml --web encyclopedia.jsonl.gz

Everything counts, from text to probability: splitting words, looking them up, answering. Pages come
one at a time, as in a crawl with one fetch in flight, and 32 at a time; anchors come page by page,
64 different ones of 12 words; nothing is remembered from an earlier round. Speed is per second of
processor time, each batch at its best of some rounds, so that other work on the machine disturbs it
little. Memory is what a new process takes more at most, while it loads the saved model and answers.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from encoders import PAGES, SLOW_PAGES, TOGETHER, Answer, largest, speeds
from tres.offline import open_web
from tres.relevance.model import RelevanceModel
from tres.relevance.model_kinds import load_model, train_model
from tres.relevance.neural.bilstm import BiLstmModel
from tres.relevance.neural.lstm_network import BiLstm
from tres.relevance.neural.word_table import network_tokens
from tres.runs.topic_perceiver import topic_examples, topic_words
from tres.settings.topic_file import load_topic

OTHERS = ("tfidf", "static", "svm", "transformer")
COLUMNS = ("pages/s, one by one", "pages/s, 32 at a time", "anchors/s", "memory, MB")


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description="Measure the speed of relevance models.")
    parser.add_argument("topic", type=Path)
    parser.add_argument("--web", required=True)
    options = parser.parse_args()
    config = load_topic(options.topic)
    web = open_web(options.web)
    examples = topic_examples(config, web)
    begin = time.process_time()
    network = train_model("bilstm", examples, config.crawl.seed, topic_words(config))
    seconds = time.process_time() - begin
    assert isinstance(network, BiLstmModel)
    others = {kind: train_model(kind, examples, 1, topic_words(config)) for kind in OTHERS}
    texts = [page.content for page, _ in zip(web.pages(), range(3000), strict=False)]
    pages = [text for text in texts if len(network_tokens(text)) == 300][:PAGES]
    print(f"training on {len(examples.texts):,} pages: {seconds:.0f} s of processor time\n")
    print(f"| model | {' | '.join(COLUMNS)} |\n|{'---|' * (1 + len(COLUMNS))}")
    show("BiLSTM, torch, single precision", speeds(TorchAnswer(network), pages))
    for name, model in {"BiLSTM, onnxruntime, single precision": network, **others}.items():
        some = pages[:SLOW_PAGES] if name == "transformer" else pages
        show(name, [*speeds(unremembered(model), some), footprint(model, some)])


def show(name: str, figures: list[float]) -> None:
    cells = [f"{figure:,.0f}" for figure in figures] + [""] * (len(COLUMNS) - len(figures))
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def unremembered(model: RelevanceModel) -> Answer:
    """The answers of a model that has forgotten what it was asked before."""
    parts = [model, *(getattr(model, name, None) for name in ("lines", "pages", "encoder"))]

    def answer(texts: list[str]) -> object:
        for part in parts:
            for kept in ("_cache", "_kept"):
                getattr(part, kept, {}).clear()
        return model.probabilities(texts)

    return answer


def footprint(model: RelevanceModel, pages: list[str]) -> float:
    """Megabytes that a new process takes more when it loads the model and answers."""
    with TemporaryDirectory() as directory:
        model.save(Path(directory))
        with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
            return fresh.submit(loaded_size, directory, pages[:TOGETHER]).result()


def loaded_size(directory: str, pages: list[str]) -> float:
    before = largest()
    load_model(Path(directory)).probabilities(pages)
    return largest() - before


class TorchAnswer:
    """The same answers by torch."""

    def __init__(self, model: BiLstmModel) -> None:
        torch.set_num_threads(1)
        weights = {
            name: torch.tensor(value)
            for name, value in model.arrays.items()
            if not name.startswith("linear.")
        }
        hidden = weights["forwards.weight_hh_l0"].shape[1]
        self.shortcut = model._shortcut
        self.table, self.vectors = model.table, model.table.matrix.astype(np.float32)
        self.network = BiLstm(self.vectors.shape[1], 1, hidden).eval()
        self.network.load_state_dict(weights)

    def __call__(self, texts: list[str]) -> object:
        batch, linear_rows = self.table.network_and_linear_rows(texts)
        shortcut = self.shortcut(texts, linear_rows)
        rows, lengths = batch.padded(np.arange(len(batch)))
        x = torch.from_numpy(self.vectors[rows.T])
        with torch.no_grad():
            n = torch.from_numpy(lengths.astype(np.int64))
            return torch.sigmoid(self.network(x, n, torch.from_numpy(shortcut)))


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
