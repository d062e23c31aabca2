"""The recurrent network and how it is trained (sections 2.2 and 3.3 of the paper).

    words -> frozen vectors -> LSTM in both directions -> pooling -> small MLP -> logit

Pooling is the mean over the real words of a text, never over padding; beside it stand
the largest value of every unit, which finds the one sentence that matters, and the mean
of the inputs themselves, so that what needs no word order can be learnt without it.
`shortcut` numbers (the opinion of a linear model, `tres.relevance.neural.linear_features`, and the
keyword counts of a KwBiLSTM) enter the MLP and, past it, the logit itself.

Both directions are plain LSTMs; the backward one reads each text turned round within its
own length. That equals a packed bidirectional LSTM and trains ten times faster on a CPU.

Training: Adam with a one-cycle learning rate, on batches of texts of similar length. A
part of the pages is kept aside; the weights of the epoch with the smallest loss there
are the result, and training ends when that loss has not fallen for a while (`PATIENCE`).
Relevant pages are few. Where they are fewer than `LEAST_SHARE`, about one in eight, they
weigh as if they were that many. Four times as much cost 0.05 to 0.06 of macro F1 where
the topic is rare, because the network then takes too many pages for relevant.

The result is the mean of two judges: of the logit that was learnt and that of the linear model.
The network finds more of the relevant pages, the linear model is right more often about those
that it takes; their mean ranks pages and anchors as well as the network and takes fewer wrong
ones. Being linear in what lies past the LSTM, it costs nothing: it is the same network with other
weights.

Against learning 150 pages by heart: words are dropped at random, units are dropped, and
most of the time the network sees a piece of the page only, which also teaches it to
judge anchors. One thread, one seed: the same bits every time.

This module needs torch, which serving does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tres.relevance.neural.linear_features import deal
from tres.relevance.neural.word_rows import Batch

HIDDEN = 32
MLP = 32
DROPOUT = 0.3
WORD_DROPOUT = 0.1
PIECES = 0.6
"""Share of texts of which a piece is shown, of 10 to 150 words."""
PIECE = (10, 150)
BATCH = 32
EPOCHS = 12
STEPS = 150
"""Steps that a training has at least; few examples are shown more often."""
PATIENCE = 1 / 3
"""Training ends when nothing has improved for this share of all epochs."""
KEPT_ASIDE = 10
"""One page in so many is kept aside."""
LEARNING_RATE = 3e-3
WEIGHT_DECAY = 1e-2
LEAST_SHARE = 0.13
"""Relevant pages weigh at least as if they were this share of all."""


class BiLstm(nn.Module):
    """Texts as vectors, in; one logit per text, out."""

    def __init__(self, dim: int, shortcut: int, hidden: int) -> None:
        super().__init__()
        self.forwards = nn.LSTM(dim, hidden, batch_first=True)
        self.backwards = nn.LSTM(dim, hidden, batch_first=True)
        self.dropout = nn.Dropout(DROPOUT)
        self.hidden = nn.Linear(4 * hidden + dim + shortcut, MLP)
        self.answer = nn.Linear(MLP, 1)
        self.past = nn.Linear(shortcut, 1, bias=False)
        with torch.no_grad():  # begin as the linear model
            self.past.weight.copy_(torch.eye(1, shortcut))

    def forward(self, x: Tensor, lengths: Tensor, shortcut: Tensor) -> Tensor:
        """`x` is (texts, words, dim); what lies beyond a length has no influence."""
        steps = torch.arange(x.shape[1])[None]
        inside = steps < lengths[:, None]
        turned = torch.where(inside, lengths[:, None] - 1 - steps, steps)
        ahead = self.forwards(x)[0]
        back = self.backwards(x.gather(1, turned[..., None].expand_as(x)))[0]
        states, mask = torch.cat([ahead, back], 2), inside[..., None]
        mean = _mean(states, mask, lengths)
        largest = states.masked_fill(~mask, -2.0).amax(1)  # states lie between -1 and 1
        pooled = self.dropout(torch.cat([mean, largest, _mean(x, mask, lengths)], 1))
        units = torch.relu(self.hidden(torch.cat([pooled, shortcut], 1)))
        logit: Tensor = self.answer(self.dropout(units)) + self.past(shortcut)
        return logit.squeeze(1)


def _mean(values: Tensor, mask: Tensor, lengths: Tensor) -> Tensor:
    return (values * mask).sum(1) / lengths[:, None].clamp(min=1)


Shown = tuple[Batch, NDArray[np.float32]]
"""Pages as an epoch shows them, and their shortcut."""


@dataclass(frozen=True, slots=True)
class TrainingPages:
    """The pages to learn from, as rows of a table."""

    pages: Batch
    shortcut: NDArray[np.float32]
    """Of whole pages; the first number is the linear model's opinion."""
    shortcut_of: Callable[[Batch], NDArray[np.float32]]
    """The same for pieces of all pages."""
    truth: NDArray[np.bool_]
    look_up: Callable[[NDArray[np.int32], NDArray[np.intp]], NDArray[np.float32]]
    """The vectors of padded rows (words x texts), as they are shown for those examples."""

    def batch(
        self, chosen: NDArray[np.intp], shown: Shown | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Vectors, lengths and shortcut of some pages, whole or as they are shown."""
        pages, shortcut = shown or (self.pages, self.shortcut)
        rows, lengths = pages.padded(chosen)
        vectors = self.look_up(rows, chosen).transpose(1, 0, 2)
        return (
            torch.from_numpy(np.ascontiguousarray(vectors)),
            torch.from_numpy(lengths.astype(np.int64)),
            torch.from_numpy(shortcut[chosen]),
        )


@contextmanager
def one_thread(seed: int) -> Iterator[None]:
    """Torch on one thread and with its own random numbers, for as long as this lasts."""
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
    """The trained network, and the epoch its weights are from."""
    rng = np.random.default_rng(seed)
    with one_thread(seed):
        network = BiLstm(dim, pages.shortcut.shape[1], HIDDEN)
        learn, aside = _parts(pages.truth, rng)
        epochs = epochs_for(len(learn))
        step = _Optimiser(network, len(learn))
        weight = relevant_weight(pages.truth)
        best, best_loss, best_epoch = _copy(network), float("inf"), 0
        for epoch in range(1, epochs + 1):
            _epoch(network, pages, learn, step, weight, rng)
            progress(epoch / epochs)
            loss = _loss_of(network, pages, aside, weight)
            if loss < best_loss:
                best, best_loss, best_epoch = _copy(network), loss, epoch
            elif epoch - best_epoch >= PATIENCE * epochs:
                break
    network.load_state_dict(best)
    return averaged(network).eval(), best_epoch


def averaged(network: BiLstm) -> BiLstm:
    """The mean of the network's logit and the linear model's, as one network."""
    with torch.no_grad():
        for weights in (network.answer.weight, network.answer.bias, network.past.weight):
            weights.mul_(0.5)
        network.past.weight[0, 0] += 0.5
    return network


def epochs_for(examples: int) -> int:
    """How often all examples are shown, at most."""
    return max(EPOCHS, -(-STEPS // -(-examples // BATCH)))


def _parts(
    truth: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Examples to learn from and those kept aside; with few of a class, nothing is."""
    if min(truth.sum(), (~truth).sum()) < KEPT_ASIDE:
        everything = np.arange(len(truth))
        return everything, everything
    aside = deal(truth, KEPT_ASIDE, rng) == 0
    return np.flatnonzero(~aside), np.flatnonzero(aside)


def _copy(network: BiLstm) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in network.state_dict().items()}


class _Optimiser:
    """One step of Adam along the one-cycle schedule."""

    def __init__(self, network: BiLstm, examples: int) -> None:
        self._parameters = list(network.parameters())
        self._adam = torch.optim.AdamW(
            self._parameters, lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY
        )
        steps = epochs_for(examples) * -(-examples // BATCH)
        self._rate = torch.optim.lr_scheduler.OneCycleLR(
            self._adam, LEARNING_RATE, total_steps=steps, pct_start=0.2
        )

    def __call__(self, loss: Tensor) -> None:
        self._adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._parameters, 1.0)
        self._adam.step()
        self._rate.step()


def _epoch(
    network: BiLstm,
    training: TrainingPages,
    learn: NDArray[np.intp],
    step: _Optimiser,
    weight: float,
    rng: np.random.Generator,
) -> None:
    network.train()
    pages, pieces = thinned(training.pages, rng)
    shortcut = np.where(pieces[:, None], training.shortcut_of(pages), training.shortcut)
    shown = (pages, shortcut)
    for chosen in _batches(pages.lengths, rng.permutation(learn), rng):
        step(_loss(network(*training.batch(chosen, shown)), training.truth[chosen], weight))


def thinned(pages: Batch, rng: np.random.Generator) -> tuple[Batch, NDArray[np.bool_]]:
    """The pages as one epoch shows them, with words missing, and which are pieces only."""
    at = np.arange(len(pages.ids)) - np.repeat(pages.starts, pages.lengths)
    pieces = rng.random(len(pages)) < PIECES
    size = np.where(pieces, rng.integers(*PIECE, len(pages)), pages.lengths)
    begin = (rng.random(len(pages)) * np.maximum(pages.lengths - size + 1, 1)).astype(np.int64)
    first = np.repeat(begin, pages.lengths)
    kept = (at >= first) & (at < first + np.repeat(size, pages.lengths))
    kept &= rng.random(len(at)) >= WORD_DROPOUT
    kept |= at == first  # never nothing
    owner = np.repeat(np.arange(len(pages)), pages.lengths)
    return Batch(pages.ids[kept], np.bincount(owner[kept], minlength=len(pages))), pieces


def _batches(
    lengths: NDArray[np.int64], order: NDArray[np.intp], rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    """Batches of similar length, in random order: little padding, still well mixed."""
    batches: list[NDArray[np.intp]] = []
    for begin in range(0, len(order), 8 * BATCH):
        group = order[begin : begin + 8 * BATCH]
        group = group[np.argsort(lengths[group], kind="stable")]
        batches += [group[at : at + BATCH] for at in range(0, len(group), BATCH)]
    return [batches[place] for place in rng.permutation(len(batches))]


def relevant_weight(truth: NDArray[np.bool_]) -> float:
    """How much a relevant page weighs, an irrelevant one weighing 1."""
    share = LEAST_SHARE / (1 - LEAST_SHARE)
    return float(max(1.0, share * (~truth).sum() / truth.sum()))


def _loss(logits: Tensor, truth: NDArray[np.bool_], relevant: float) -> Tensor:
    target = torch.from_numpy(truth.astype(np.float32))
    weight = 1.0 + (relevant - 1.0) * target
    losses = nn.functional.binary_cross_entropy_with_logits(logits, target, weight, reduction="sum")
    return losses / weight.sum()


def _loss_of(
    network: BiLstm, pages: TrainingPages, chosen: NDArray[np.intp], relevant: float
) -> float:
    said = torch.from_numpy(logits(network, pages, chosen))
    return float(_loss(said, pages.truth[chosen], relevant))


def logits(network: BiLstm, pages: TrainingPages, chosen: NDArray[np.intp]) -> NDArray[np.float32]:
    """The network's answers as they are, without dropout."""
    network.eval()
    with torch.no_grad():
        parts = [
            network(*pages.batch(chosen[at : at + 2 * BATCH])).numpy()
            for at in range(0, len(chosen), 2 * BATCH)
        ]
    return np.concatenate(parts)
