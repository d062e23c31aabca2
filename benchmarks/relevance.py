"""How fast relevance models answer, and how long a network trains. One thread.

    python benchmarks/relevance.py benchmarks/topics/biology.toml --web encyclopedia.jsonl.gz

Everything counts, from text to probability: splitting words, looking them up, answering. Pages come
one at a time, as in a crawl with one fetch in flight, and 32 at a time; anchors come page by page,
64 different ones of 12 words. Speed is per second of processor time, the best of five rounds, so
that other work on the machine disturbs it little.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from tres.offline import open_web
from tres.relevance.model import RelevanceModel
from tres.relevance.model_kinds import train_model
from tres.relevance.neural.bilstm import BiLstmModel
from tres.relevance.neural.lstm_network import BiLstm
from tres.relevance.neural.word_table import network_tokens
from tres.runs.topic_perceiver import topic_examples, topic_words
from tres.settings.topic_file import load_topic

PAGES, ROUNDS, TOGETHER, ANCHORS, ANCHOR_WORDS = 320, 5, 32, 64, 12

Answer = Callable[[list[str]], object]


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
    others = {k: train_model(k, examples, 1, topic_words(config)) for k in ("tfidf", "svm")}
    texts = [page.content for page, _ in zip(web.pages(), range(3000), strict=False)]
    pages = [text for text in texts if len(network_tokens(text)) == 300][:PAGES]
    print(f"training on {len(examples.texts):,} pages: {seconds:.0f} s of processor time\n")
    print("| model | pages/s, one by one | pages/s, 32 at a time | anchors/s |\n|---|---|---|---|")
    for name, answer in answers(network, others):
        speeds = [rate(answer, each) for each in work(pages)]
        print(f"| {name} | {' | '.join(f'{speed:,.0f}' for speed in speeds)} |", flush=True)


def work(pages: list[str]) -> list[list[list[str]]]:
    """The batches: single pages, pages together, anchors of a page."""
    words = [word for page in pages[:120] for word in page.split()]
    anchors = [" ".join(words[i : i + ANCHOR_WORDS]) for i in range(0, len(words), ANCHOR_WORDS)]
    return [[[page] for page in pages], cut(pages, TOGETHER), cut(anchors, ANCHORS)]


def cut(texts: list[str], size: int) -> list[list[str]]:
    return [texts[at : at + size] for at in range(0, len(texts), size)]


def answers(
    network: BiLstmModel, others: dict[str, RelevanceModel]
) -> Iterable[tuple[str, Answer]]:
    """What is compared, by name."""
    yield "BiLSTM, torch, single precision", TorchAnswer(network)
    yield "BiLSTM, onnxruntime, single precision", network.probabilities
    for name, model in others.items():
        yield name, model.probabilities


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


def rate(answer: Answer, batches: list[list[str]]) -> float:
    """Texts per second of processor time, the best of some rounds."""
    answer(batches[0])
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.process_time()
        for batch in batches:
            answer(batch)
        best = min(best, time.process_time() - begin)
    return sum(map(len, batches)) / best


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
