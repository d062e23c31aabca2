"""Saved models by kind: the one place that knows them all.

A model saves itself (`RelevanceModel.save`); loading has to find out first what was
saved. A model that is damaged, foreign or of an unknown kind is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tres.errors import ModelError
from tres.relevance.custom_model import KIND as OWN
from tres.relevance.custom_model import refused
from tres.relevance.model import RelevanceModel
from tres.relevance.model_files import MANIFEST, ModelFiles
from tres.relevance.neural.bilstm import KIND as BILSTM
from tres.relevance.neural.bilstm import KW_KIND as KW_BILSTM
from tres.relevance.neural.bilstm import BiLstmModel
from tres.relevance.svm import KIND as SVM
from tres.relevance.svm import SvmModel
from tres.relevance.tfidf import KIND as TFIDF
from tres.relevance.tfidf import TfidfModel

KINDS: dict[str, Callable[[ModelFiles], RelevanceModel]] = {
    TFIDF: TfidfModel.from_files,
    SVM: SvmModel.from_files,
    BILSTM: BiLstmModel.from_files,
    KW_BILSTM: BiLstmModel.from_files,
}


def load_model(directory: Path) -> RelevanceModel:
    """The model saved in `directory`, whole and verified; else `ModelError`."""
    files = ModelFiles.read(directory)
    if files.kind == OWN:
        raise refused(files, directory)
    if files.kind not in KINDS:
        raise ModelError(
            f"{directory / MANIFEST}: is a model of the unknown kind {files.kind!r}; "
            f"this version of tres knows {', '.join(KINDS)}"
        )
    try:
        return KINDS[files.kind](files)
    except ModelError as problem:
        raise ModelError(f"{directory}: {problem.message}") from None
