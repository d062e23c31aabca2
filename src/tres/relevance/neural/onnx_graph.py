"""The network as an ONNX graph.

The graph is built node by node from the trained weights: one bidirectional LSTM that gets the
length of every text, so that padding is ignored; pooling as in
`tres.relevance.neural.lstm_network`; the MLP. Torch orders the gates of an LSTM input, forget,
cell, output; ONNX orders them input, output, forget, cell.

Inputs are `x` (words, texts, dim), `lengths` (texts) and `shortcut` (texts, numbers); the output
is one logit per text. This module needs onnx, which prediction does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR = 8
"""Versions old enough for every runtime that the package allows."""

Weights = Mapping[str, NDArray[np.float32]]


def onnx_graph(weights: Weights) -> bytes:
    """Serialise the network with these weights."""
    hidden = weights["forwards.weight_hh_l0"].shape[1]
    constants: dict[str, NDArray[Any]] = {
        "zero": np.array(0, np.int64),
        "one": np.array(1, np.int64),
        "axis0": np.array([0], np.int64),
        "axis1": np.array([1], np.int64),
        "masked": np.array(-2.0, np.float32),
        **_lstm(weights),
        "hidden_w": weights["hidden.weight"].T,
        "hidden_b": weights["hidden.bias"],
        "answer_w": weights["answer.weight"].T,
        "answer_b": weights["answer.bias"],
        "past_w": weights["past.weight"].T,
        "flat": np.array([-1, 2 * hidden], np.int64),
        "axis2": np.array([2], np.int64),
        "axis3": np.array([3], np.int64),
        "nothing": np.array(0.0, np.float32),
    }
    dim = weights["forwards.weight_ih_l0"].shape[1]
    return _model(_nodes(hidden), constants, dim, weights["past.weight"].shape[1])


def _lstm(weights: Weights) -> dict[str, NDArray[np.float32]]:
    """The weights of both directions, stacked, with their gates in the order of ONNX."""
    sides = ("forwards", "backwards")

    def gates(name: str) -> NDArray[np.float32]:
        i, f, g, o = np.split(weights[name], 4)
        return np.concatenate([i, o, f, g])

    return {
        "w": np.stack([gates(f"{side}.weight_ih_l0") for side in sides]),
        "r": np.stack([gates(f"{side}.weight_hh_l0") for side in sides]),
        "b": np.stack(
            [
                np.concatenate([gates(f"{side}.bias_ih_l0"), gates(f"{side}.bias_hh_l0")])
                for side in sides
            ]
        ),
    }


def _nodes(hidden: int) -> list[Any]:
    node = helper.make_node
    return [
        node("LSTM", ["x", "w", "r", "b", "lengths"], ["states"],
             direction="bidirectional", hidden_size=hidden),
        # which words are real: (words, 1, texts, 1) beside states (words, 2, texts, hidden)
        node("Shape", ["x"], ["shape"]),
        node("Gather", ["shape", "zero"], ["words"]),
        node("Range", ["zero", "words", "one"], ["steps"]),
        node("Unsqueeze", ["steps", "axis1"], ["column"]),
        node("Cast", ["lengths"], ["long"], to=TensorProto.INT64),
        node("Less", ["column", "long"], ["inside"]),
        node("Unsqueeze", ["inside", "axis1"], ["inside3"]),
        node("Unsqueeze", ["inside3", "axis3"], ["inside4"]),
        node("Where", ["inside4", "states", "masked"], ["real"]),
        node("ReduceMax", ["real"], ["top"], axes=[0], keepdims=0),
        node("ReduceSum", ["states", "axis0"], ["sum"], keepdims=0),
        # (2, texts, hidden) becomes (texts, 2 * hidden)
        node("Transpose", ["top"], ["top_t"], perm=[1, 0, 2]),
        node("Reshape", ["top_t", "flat"], ["largest"]),
        node("Transpose", ["sum"], ["sum_t"], perm=[1, 0, 2]),
        node("Reshape", ["sum_t", "flat"], ["total"]),
        node("Cast", ["lengths"], ["count"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["count", "axis1"], ["divisor"]),
        node("Div", ["total", "divisor"], ["mean"]),
        node("Unsqueeze", ["inside", "axis2"], ["inside_x"]),
        node("Where", ["inside_x", "x", "nothing"], ["x_real"]),
        node("ReduceSum", ["x_real", "axis0"], ["x_total"], keepdims=0),
        node("Div", ["x_total", "divisor"], ["x_mean"]),
        node("Concat", ["mean", "largest", "x_mean", "shortcut"],
             ["pooled"], axis=1),
        node("Gemm", ["pooled", "hidden_w", "hidden_b"], ["sums"]),
        node("Relu", ["sums"], ["units"]),
        node("Gemm", ["units", "answer_w", "answer_b"], ["inner"]),
        node("MatMul", ["shortcut", "past_w"], ["outer"]),
        node("Add", ["inner", "outer"], ["sides"]),
        node("Squeeze", ["sides", "axis1"], ["logits"]),
    ]  # fmt: skip


def _model(nodes: list[Any], constants: dict[str, NDArray[Any]], dim: int, shortcut: int) -> bytes:
    value = helper.make_tensor_value_info
    inputs = [
        value("x", TensorProto.FLOAT, ["words", "texts", dim]),
        value("lengths", TensorProto.INT32, ["texts"]),
        value("shortcut", TensorProto.FLOAT, ["texts", shortcut]),
    ]
    initial = [
        numpy_helper.from_array(np.ascontiguousarray(array), name)
        for name, array in constants.items()
    ]
    outputs = [value("logits", TensorProto.FLOAT, ["texts"])]
    graph = helper.make_graph(nodes, "bilstm", inputs, outputs, initial)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = IR
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())
