"""BERT as an ONNX graph, from weights in the layout of transformers (`model.safetensors`).

A token begins as the sum of three embeddings: of itself, of its place and of its segment (always
the first). Each layer adds two corrections, and normalises after each of them:

    x <- norm(x + W attention(x))          tokens look at each other, in several heads
    x <- norm(x + W2 gelu(W1 x))           each token by itself

The graph takes texts of one length (`input_ids`, texts x tokens), so it needs no padding and no
mask, and gives `last_hidden_state`, a vector per token.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET, IR = 17, 8

Weights = Mapping[str, NDArray[Any]]


class BertConfig(msgspec.Struct):
    """What config.json says about the graph."""

    model_type: str
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    hidden_act: str = "gelu"
    layer_norm_eps: float = 1e-12
    position_embedding_type: str = "absolute"

    @property
    def is_plain_bert(self) -> bool:
        """Whether the graph below is the right one."""
        variant = (self.model_type, self.hidden_act, self.position_embedding_type)
        return variant == ("bert", "gelu", "absolute") and (
            self.num_attention_heads > 0 and self.hidden_size % self.num_attention_heads == 0
        )


def bert_graph(config: BertConfig, weights: Weights) -> bytes:
    """The graph; `KeyError` if a weight is missing."""
    graph = _Graph(config, weights)
    x = graph.embeddings()
    for layer in range(config.num_hidden_layers):
        x = graph.layer(x, f"encoder.layer.{layer}")
    return graph.finished(x)


class _Graph:
    """Nodes and constants, grown from input to output; a method returns the name of its result."""

    def __init__(self, config: BertConfig, weights: Weights) -> None:
        self._config = config
        self._weights = weights
        self._prefix = "" if "embeddings.word_embeddings.weight" in weights else "bert."
        self._nodes: list[Any] = []
        self._constants: dict[str, NDArray[Any]] = {}

    def embeddings(self) -> str:
        places = self._node("Shape", "input_ids", start=1, end=2)
        first = self._constant("first", np.zeros(1, np.int64))
        names = (f"embeddings.{kind}_embeddings.weight" for kind in ("word", "position"))
        word, position = (self._constant(name, self._weight(name)) for name in names)
        segment = self._weight("embeddings.token_type_embeddings.weight")[0]
        x = self._node("Gather", word, "input_ids")
        x = self._node("Add", x, self._node("Slice", position, first, places, first))
        x = self._node("Add", x, self._constant("segment", segment))
        return self._norm(x, "embeddings.LayerNorm")

    def layer(self, x: str, name: str) -> str:
        seen = self._dense(self._attention(x, f"{name}.attention.self"), f"{name}.attention.output")
        x = self._norm(self._node("Add", x, seen), f"{name}.attention.output.LayerNorm")
        wide = self._gelu(self._dense(x, f"{name}.intermediate"))
        x = self._node("Add", x, self._dense(wide, f"{name}.output"))
        return self._norm(x, f"{name}.output.LayerNorm")

    def _attention(self, x: str, name: str) -> str:
        config = self._config
        size = config.hidden_size // config.num_attention_heads
        split = self._constant("split", np.array([0, 0, config.num_attention_heads, size]))
        merge = self._constant("merge", np.array([0, 0, config.hidden_size]))

        def heads(part: str, order: list[int]) -> str:
            y = self._node("Reshape", self._linear(x, f"{name}.{part}"), split)
            return self._node("Transpose", y, perm=order)

        query, value = heads("query", [0, 2, 1, 3]), heads("value", [0, 2, 1, 3])
        scores = self._node("MatMul", query, heads("key", [0, 2, 3, 1]))
        scale = self._constant("scale", np.float32(1 / math.sqrt(size)))
        shares = self._node("Softmax", self._node("Mul", scores, scale), axis=-1)
        mixed = self._node("Transpose", self._node("MatMul", shares, value), perm=[0, 2, 1, 3])
        return self._node("Reshape", mixed, merge)

    def _gelu(self, x: str) -> str:
        """x times the probability that a normal number is less than x."""
        root = self._constant("root2", np.float32(math.sqrt(2)))
        one, half = self._constant("one", np.float32(1)), self._constant("half", np.float32(0.5))
        below = self._node("Add", self._node("Erf", self._node("Div", x, root)), one)
        return self._node("Mul", self._node("Mul", x, half), below)

    def _dense(self, x: str, name: str) -> str:
        return self._linear(x, f"{name}.dense")

    def _linear(self, x: str, name: str) -> str:
        weight = self._constant(f"{name}.weight", self._weight(f"{name}.weight").T)
        bias = self._constant(f"{name}.bias", self._weight(f"{name}.bias"))
        return self._node("Add", self._node("MatMul", x, weight), bias)

    def _norm(self, x: str, name: str) -> str:
        parts = (f"{name}.weight", f"{name}.bias")
        weight, bias = (self._constant(part, self._weight(part)) for part in parts)
        epsilon = self._config.layer_norm_eps
        return self._node("LayerNormalization", x, weight, bias, epsilon=epsilon, axis=-1)

    def _weight(self, name: str) -> NDArray[np.float32]:
        return self._weights[self._prefix + name].astype(np.float32)

    def _constant(self, name: str, value: Any) -> str:
        self._constants[name] = np.ascontiguousarray(value)
        return name

    def _node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        output = f"{kind}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def finished(self, x: str) -> bytes:
        self._nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"]))
        value, shape = helper.make_tensor_value_info, ["texts", "tokens"]
        graph = helper.make_graph(
            self._nodes,
            "bert",
            [value("input_ids", TensorProto.INT64, shape)],
            [value("last_hidden_state", TensorProto.FLOAT, [*shape, self._config.hidden_size])],
            [numpy_helper.from_array(array, name) for name, array in self._constants.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = IR
        onnx.checker.check_model(model)
        return bytes(model.SerializeToString())
