"""The recurrent network (sections 2.2 and 3.3 of the paper).

    words -> frozen vectors -> LSTM in both directions -> pooling -> small MLP -> logit

Pooling is the mean over the real words of a text, never over padding; beside it stand the maximum
of every unit, which finds the one sentence that matters, and the mean of the inputs themselves, so
that what needs no word order can be learnt without it. The `shortcut` numbers (the logit of a
linear model, `tres.relevance.neural.linear_features`, and the keyword counts of a KwBiLSTM) enter
the MLP and, past it, the logit itself.

Both directions are plain LSTMs; the backward one reads each text reversed within its own length.
That equals a packed bidirectional LSTM and trains ten times faster on a CPU.

This module needs torch, which prediction does not.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

MLP = 32
DROPOUT = 0.3


class BiLstm(nn.Module):
    """Texts as vectors in, one logit per text out."""

    def __init__(self, dim: int, shortcut: int, hidden: int) -> None:
        super().__init__()
        self.forwards = nn.LSTM(dim, hidden, batch_first=True)
        self.backwards = nn.LSTM(dim, hidden, batch_first=True)
        self.dropout = nn.Dropout(DROPOUT)
        self.hidden = nn.Linear(4 * hidden + dim + shortcut, MLP)
        self.answer = nn.Linear(MLP, 1)
        self.past = nn.Linear(shortcut, 1, bias=False)
        with torch.no_grad():  # start as the linear model
            self.past.weight.copy_(torch.eye(1, shortcut))

    def forward(self, x: Tensor, lengths: Tensor, shortcut: Tensor) -> Tensor:
        """`x` is (texts, words, dim); values beyond the length of a text have no influence."""
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


def averaged(network: BiLstm) -> BiLstm:
    """Turn the network into one whose logit is the mean of its own and the linear model's."""
    with torch.no_grad():
        for weights in (network.answer.weight, network.answer.bias, network.past.weight):
            weights.mul_(0.5)
        network.past.weight[0, 0] += 0.5
    return network
