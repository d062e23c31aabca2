"""The Q-network: a small multilayer perceptron on one flat parameter vector (section 2.4.2).

All weights and biases lie in one vector theta, and a layer is a view of a stretch of it.
So an optimiser step, a copy to the target network and a checkpoint are each one array
operation, which for networks of this size is most of the cost.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tres.mdp.columns import Floats

LEAK = np.float32(0.01)
"""Slope of the leaky ReLU below zero."""


class Layer(NamedTuple):
    """Views into theta."""

    weight: Floats
    bias: Floats


class QNetwork:
    """Shape of a perceptron with leaky ReLU and one output; parameters are passed in."""

    def __init__(self, width: int, hidden: tuple[int, ...]) -> None:
        self._shapes = list(pairwise((width, *hidden, 1)))
        self.size = sum((inputs + 1) * outputs for inputs, outputs in self._shapes)

    def initial(self, rng: np.random.Generator) -> Floats:
        """He initialisation; zero biases."""
        theta = np.zeros(self.size, np.float32)
        for weight, _ in self._layers(theta):
            weight[:] = rng.normal(0.0, np.sqrt(2.0 / len(weight)), weight.shape)
        return theta

    def values(self, theta: Floats, vectors: Floats) -> Floats:
        """Q(x) for every row of `vectors`."""
        return self._forward(theta, vectors)[-1][:, 0]

    def gradient(self, theta: Floats, vectors: Floats, targets: Floats) -> tuple[float, Floats]:
        """Mean squared error against `targets`, and its gradient over theta."""
        activations = self._forward(theta, vectors)
        error = activations[-1][:, 0] - targets
        gradient = np.empty_like(theta)
        delta = (2.0 / len(error) * error)[:, None].astype(np.float32)
        layers, gradients = self._layers(theta), self._layers(gradient)
        for i in range(len(layers) - 1, -1, -1):
            gradients[i].weight[:] = activations[i].T @ delta
            gradients[i].bias[:] = delta.sum(axis=0)
            if i:
                delta = (delta @ layers[i].weight.T) * np.where(activations[i] > 0, 1, LEAK)
        return float(np.mean(error**2)), gradient

    def _forward(self, theta: Floats, vectors: Floats) -> list[Floats]:
        activations = [vectors]
        layers = self._layers(theta)
        for layer in layers[:-1]:
            hidden = activations[-1] @ layer.weight
            hidden += layer.bias
            activations.append(np.maximum(hidden, LEAK * hidden, out=hidden))
        activations.append(activations[-1] @ layers[-1].weight + layers[-1].bias)
        return activations

    def _layers(self, theta: Floats) -> list[Layer]:
        layers, start = [], 0
        for inputs, outputs in self._shapes:
            middle, end = start + inputs * outputs, start + (inputs + 1) * outputs
            layers.append(Layer(theta[start:middle].reshape(inputs, outputs), theta[middle:end]))
            start = end
        return layers
