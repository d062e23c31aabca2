"""Training of the recurrent network (section 3.3 of the paper).

Adam with a one-cycle learning rate, on batches of texts of similar length. Some pages are held
out; training keeps the weights of the epoch with the smallest loss on them, and stops when that
loss has not fallen for a while (`PATIENCE`). Relevant pages are few. Where their share is below
`LEAST_SHARE`, about one in eight, they are weighted up to that share. Weights four times as large
cost 0.05 to 0.06 of macro F1 where the topic is rare, because the network then takes too many
pages for relevant.

The result is the mean of two logits: the network's and the linear model's. The network finds more
of the relevant pages, the linear model is more often right about those it takes; their mean ranks
pages and anchors as well as the network, with fewer false positives. It costs nothing: it is the
same network with other weights in its last layer.

Against overfitting to 150 pages: words are dropped at random, units are dropped, and most of the
time the network sees only a piece of the page, which also teaches it to judge anchors. With one
thread and one seed, training gives the same bits every time.

This module needs torch, which prediction does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tres.relevance.neural.lstm_network import BiLstm, averaged
from tres.relevance.neural.word_table import RaggedRows
from tres.relevance.training import stratified_folds

HIDDEN = 32
WORD_DROPOUT = 0.1
PIECES = 0.6
"""Share of texts of which an epoch shows only a piece."""
PIECE_WORDS = (10, 150)
BATCH = 32
EPOCHS = 12
MIN_STEPS = 150
"""Fewest steps of a training; few examples are shown more often."""
PATIENCE = 1 / 3
"""Training stops when nothing has improved for this share of all epochs."""
HELD_OUT = 10
"""One page in so many is held out."""
LEARNING_RATE = 3e-3
WEIGHT_DECAY = 1e-2
LEAST_SHARE = 0.13
"""Relevant pages are weighted up to this share of all pages."""


@dataclass(frozen=True, slots=True)
class TrainingPages:
    """The training pages, as rows of a table."""

    pages: RaggedRows
    shortcut: NDArray[np.float32]
    """Of whole pages; the first number is the linear model's logit."""
    shortcut_of: Callable[[RaggedRows], NDArray[np.float32]]
    """The same for pieces of all pages."""
    truth: NDArray[np.bool_]
    look_up: Callable[[NDArray[np.int32], NDArray[np.intp]], NDArray[np.float32]]
    """The vectors of padded rows (words x texts) of those examples."""

    def batch(
        self,
        chosen: NDArray[np.intp],
        augmented: tuple[RaggedRows, NDArray[np.float32]] | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Vectors, lengths and shortcut of some pages, whole or as an epoch shows them."""
        pages, shortcut = augmented or (self.pages, self.shortcut)
        rows, lengths = pages.padded(chosen)
        vectors = self.look_up(rows, chosen).transpose(1, 0, 2)
        return (
            torch.from_numpy(np.ascontiguousarray(vectors)),
            torch.from_numpy(lengths.astype(np.int64)),
            torch.from_numpy(shortcut[chosen]),
        )


@contextmanager
def one_thread(seed: int) -> Iterator[None]:
    """Run torch on one thread with its own random numbers, and restore both afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(before)


def fit(
    pages: TrainingPages, dim: int, seed: int, progress: Callable[[float], None]
) -> tuple[BiLstm, int]:
    """Train a network; return it and the epoch of its weights."""
    rng = np.random.default_rng(seed)
    with one_thread(seed):
        network = BiLstm(dim, pages.shortcut.shape[1], HIDDEN)
        train, held_out = _split(pages.truth, rng)
        epochs = epochs_for(len(train))
        step = _one_cycle_adam(network, len(train))
        weight = relevant_weight(pages.truth)
        best, best_loss, best_epoch = deepcopy(network.state_dict()), float("inf"), 0
        for epoch in range(1, epochs + 1):
            _run_epoch(network, pages, train, step, weight, rng)
            progress(epoch / epochs)
            loss = _held_out_loss(network, pages, held_out, weight)
            if loss < best_loss:
                best, best_loss, best_epoch = deepcopy(network.state_dict()), loss, epoch
            elif epoch - best_epoch >= PATIENCE * epochs:
                break
    network.load_state_dict(best)
    return averaged(network).eval(), best_epoch


def epochs_for(examples: int) -> int:
    """The largest number of epochs for so many examples."""
    return max(EPOCHS, -(-MIN_STEPS // -(-examples // BATCH)))


def _split(
    truth: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Examples to train on and to hold out; both are all examples if a class has few."""
    if min(truth.sum(), (~truth).sum()) < HELD_OUT:
        everything = np.arange(len(truth))
        return everything, everything
    held_out = stratified_folds(truth, HELD_OUT, rng) == 0
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def _one_cycle_adam(network: BiLstm, examples: int) -> Callable[[Tensor], None]:
    """Return a function that takes one step of Adam, along the one-cycle schedule."""
    parameters = list(network.parameters())
    adam = torch.optim.AdamW(parameters, lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    steps = epochs_for(examples) * -(-examples // BATCH)
    rate = torch.optim.lr_scheduler.OneCycleLR(
        adam, LEARNING_RATE, total_steps=steps, pct_start=0.2
    )

    def step(loss: Tensor) -> None:
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(parameters, 1.0)
        adam.step()
        rate.step()

    return step


def _run_epoch(
    network: BiLstm,
    training: TrainingPages,
    train: NDArray[np.intp],
    step: Callable[[Tensor], None],
    weight: float,
    rng: np.random.Generator,
) -> None:
    network.train()
    pages, pieces = augment(training.pages, rng)
    shortcut = np.where(pieces[:, None], training.shortcut_of(pages), training.shortcut)
    for chosen in _batches(pages.lengths, rng.permutation(train), rng):
        logits = network(*training.batch(chosen, (pages, shortcut)))
        step(_loss(logits, training.truth[chosen], weight))


def augment(pages: RaggedRows, rng: np.random.Generator) -> tuple[RaggedRows, NDArray[np.bool_]]:
    """The pages as one epoch shows them, with words dropped, and which are pieces only."""
    at = np.arange(len(pages.ids)) - np.repeat(pages.starts, pages.lengths)
    pieces = rng.random(len(pages)) < PIECES
    size = np.where(pieces, rng.integers(*PIECE_WORDS, len(pages)), pages.lengths)
    begin = (rng.random(len(pages)) * np.maximum(pages.lengths - size + 1, 1)).astype(np.int64)
    first = np.repeat(begin, pages.lengths)
    kept = (at >= first) & (at < first + np.repeat(size, pages.lengths))
    kept &= rng.random(len(at)) >= WORD_DROPOUT
    kept |= at == first  # at least one word
    owner = np.repeat(np.arange(len(pages)), pages.lengths)
    return RaggedRows(pages.ids[kept], np.bincount(owner[kept], minlength=len(pages))), pieces


def _batches(
    lengths: NDArray[np.int64], order: NDArray[np.intp], rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    """Batches of similar length, in random order: little padding, yet well mixed."""
    batches: list[NDArray[np.intp]] = []
    for begin in range(0, len(order), 8 * BATCH):
        group = order[begin : begin + 8 * BATCH]
        group = group[np.argsort(lengths[group], kind="stable")]
        batches += [group[at : at + BATCH] for at in range(0, len(group), BATCH)]
    return [batches[place] for place in rng.permutation(len(batches))]


def relevant_weight(truth: NDArray[np.bool_]) -> float:
    """The weight of a relevant page; an irrelevant one has weight 1."""
    share = LEAST_SHARE / (1 - LEAST_SHARE)
    return float(max(1.0, share * (~truth).sum() / truth.sum()))


def _loss(logits: Tensor, truth: NDArray[np.bool_], relevant: float) -> Tensor:
    target = torch.from_numpy(truth.astype(np.float32))
    weight = 1.0 + (relevant - 1.0) * target
    losses = nn.functional.binary_cross_entropy_with_logits(logits, target, weight, reduction="sum")
    return losses / weight.sum()


def _held_out_loss(
    network: BiLstm, pages: TrainingPages, chosen: NDArray[np.intp], relevant: float
) -> float:
    network.eval()  # no dropout
    starts = range(0, len(chosen), 2 * BATCH)
    with torch.no_grad():
        parts = [network(*pages.batch(chosen[at : at + 2 * BATCH])) for at in starts]
        return float(_loss(torch.cat(parts), pages.truth[chosen], relevant))
