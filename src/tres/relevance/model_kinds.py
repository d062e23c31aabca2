"""The kinds of relevance models: one entry each, for training and for loading.

To add a kind: write its file (a class with the methods of `tres.relevance.model.RelevanceModel`, a
`from_files` and a train function), add an entry here and its name to `training.model` in
`tres.settings.sections`. The battery in tests/relevance/test_contract.py then checks it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tres.distribution import pip_install
from tres.errors import ModelError, TrainingError
from tres.relevance import custom_model, installed_judge, static, svm, tfidf, transformer_model
from tres.relevance.examples import Examples
from tres.relevance.model import RelevanceModel
from tres.relevance.model_files import MANIFEST, ModelFiles
from tres.relevance.neural import bilstm
from tres.relevance.neural.train_bilstm import train_bilstm
from tres.relevance.training import Progress, TopicWords

Train = Callable[[Examples, int, TopicWords, Progress], RelevanceModel]
"""Trains a model with a seed."""


@dataclass(frozen=True, slots=True)
class ModelKind:
    """How models of one kind are trained and loaded, and which packages that takes."""

    train: Train
    load: Callable[[ModelFiles], RelevanceModel]
    takes_weights: bool = False
    """If not, examples are repeated in proportion to their weights."""
    extra: str = ""
    """The optional dependency that installs the packages, as in `pip_install(extra)`."""
    train_packages: tuple[str, ...] = ()
    load_packages: tuple[str, ...] = ()


def _neural(name: str) -> ModelKind:
    return ModelKind(
        lambda examples, *rest: train_bilstm(examples.texts, examples.labels, name, *rest),
        bilstm.BiLstmModel.from_files,
        extra="neural",
        train_packages=("torch", "onnx", "onnxruntime", "safetensors"),
        load_packages=("onnxruntime", "safetensors"),
    )


MODEL_KINDS = {
    static.KIND: ModelKind(
        lambda examples, seed, topic, _: static.train_from_topic(examples, seed, topic),
        static.StaticModel.from_files,
        takes_weights=True,
    ),
    transformer_model.KIND: ModelKind(
        lambda examples, seed, topic, _: transformer_model.train_transformer(examples, seed, topic),
        transformer_model.TransformerModel.from_files,
        takes_weights=True,
        extra="encoder",
        train_packages=("onnxruntime", "tokenizers"),
        load_packages=("onnxruntime", "tokenizers"),
    ),
    tfidf.KIND: ModelKind(
        lambda ex, seed, *_: tfidf.train_tfidf(ex.texts, ex.labels, seed, ex.weights),
        tfidf.TfidfModel.from_files,
        takes_weights=True,
    ),
    svm.KIND: ModelKind(
        lambda ex, seed, *_: svm.train_svm(ex.texts, ex.labels, seed), svm.SvmModel.from_files
    ),
    bilstm.KIND: _neural(bilstm.KIND),
    bilstm.KW_KIND: _neural(bilstm.KW_KIND),
}
AUTO, DEFAULT = "auto", static.KIND
"""`model = "auto"` means the default kind, whether examples teach it or the crawl itself."""


def train_model(
    name: str,
    examples: Examples,
    seed: int,
    topic: TopicWords | None = None,
    progress: Progress = lambda done: None,
) -> RelevanceModel:
    """Train a model of the kind that a topic file names."""
    kind = MODEL_KINDS.get(DEFAULT if name == AUTO else name)
    if kind is None:
        raise TrainingError(f"{name!r} is no kind of model; valid are {', '.join(MODEL_KINDS)}")
    _require_packages(kind, kind.train_packages)
    examples = examples if kind.takes_weights else examples.without_weights()
    return kind.train(examples, seed, topic or TopicWords(), progress)


def load_model(directory: Path, *, code: bool = True) -> RelevanceModel:
    """Load a saved model; `ModelError` if it is damaged or of an unknown kind.

    A model is data, but for the judge of an installed package, which is imported unless `code`
    is false: a model that somebody else has made must not decide which code is run.
    """
    files = ModelFiles.read(directory)
    try:
        if files.kind == custom_model.KIND:
            if code:
                return installed_judge.load_judge(files)
            path = installed_judge.read_record(files).path
            raise ModelError(f'is no model but names code; write model = "{path}" in [training]')
        if (kind := MODEL_KINDS.get(files.kind)) is not None:
            _require_packages(kind, kind.load_packages)
            return kind.load(files)
    except ModelError as problem:
        raise ModelError(f"{directory}: {problem.message}") from None
    raise ModelError(
        f"{directory / MANIFEST}: is a model of the unknown kind {files.kind!r}; "
        f"this version of tres knows {', '.join(MODEL_KINDS)}"
    )


def _require_packages(kind: ModelKind, packages: Sequence[str]) -> None:
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise ModelError(
            f"{kind.extra} models need {' and '.join(missing)}, which "
            f"{'is' if len(missing) == 1 else 'are'} not installed: {pip_install(kind.extra)}"
        )
