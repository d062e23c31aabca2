"""`tres train`: train a relevance model and cross-validate it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from tres.cli.console import file_name, messages
from tres.cli.options import PATH, labelled_web, one_of, topic_argument
from tres.cli.train_report import Judged, report
from tres.errors import ConfigError, ModelError, printable
from tres.files.checksummed import signed, verified
from tres.files.durable import replace_file
from tres.offline import open_web
from tres.relevance.cross_validation import (
    CrossValidation,
    Folds,
    cross_validate,
    divide_by_site,
    predict_folds,
)
from tres.relevance.examples import Examples
from tres.relevance.model import RelevanceModel
from tres.relevance.model_files import MANIFEST
from tres.relevance.model_kinds import train_model
from tres.runs.topic_perceiver import find_keywords, topic_examples, topic_words
from tres.settings.sections import MODELS
from tres.settings.topic_file import TopicConfig, load_topic


@click.command()
@topic_argument("topic")
@labelled_web
@click.option(
    "--out", type=PATH, metavar="DIR", help="Write the model here.  [default: models/NAME-MODEL]"
)
@click.option(
    "--model",
    metavar="NAME",
    help=f"Kind of model: {', '.join(MODELS)}.",
    shell_complete=one_of(MODELS),
)
@click.option("--folds", type=int, metavar="N", help="Cross-validate with N folds.")
@click.option("--seed", type=int, metavar="N", help="Seed for all randomness.")
@click.option("--overwrite", is_flag=True, help="Replace a model that is already in DIR.")
def train(topic: Path, web: str | None, out: Path | None, overwrite: bool, **options: Any) -> None:
    """Train a relevance model, and measure how good it is.

    TOPIC is the topic file. Cross-validate the model, then train it on all examples and save it,
    for `load` in the section [training] of topic files.

    Example: tres train biology.toml --web encyclopedia.jsonl.gz --model bilstm
    """
    config = load_topic(topic).override(**options)
    if config.training.own_judge:
        raise ConfigError(
            f"{topic}: training.model: {config.training.model} is a judge of your own, so there is "
            "nothing to train; crawl with it, or name a kind of model with --model"
        )
    if config.training.load is not None:
        raise ConfigError(
            f"{topic}: training.load names a trained model; give examples (labels, or "
            "positives and negatives) to train one"
        )
    if config.training.learns:
        raise ConfigError(
            f"{topic}: training names no examples to train on; give labels, or positives and "
            "negatives"
        )
    out = out or Path("models", f"{file_name(config.name)}-{config.training.model}")
    _refuse_occupied(out, overwrite)
    screen = messages()
    with screen.status("reading the examples"):
        examples = topic_examples(config, None if web is None else open_web(web))
    apart = divide_by_site(examples, config.training.folds, config.crawl.seed)
    trainings = config.training.folds * (1 if isinstance(apart, str) else 2) + 1
    with training_progress(screen, config.training.model, trainings) as step:
        judged, model = judge_and_train(config, examples, apart, step)
    _save(model, judged, config, web, out)
    click.echo("\n".join(report(config.training.model, judged)))
    click.echo(
        f'\nmodel: {out}   (use it with load = "{printable(str(out.absolute()))}" in [training])'
    )


def _refuse_occupied(out: Path, overwrite: bool) -> None:
    if (out / MANIFEST).exists():
        if not overwrite:
            raise ModelError(
                f"{out}: contains a model already; name another --out, or add --overwrite"
            )
    elif out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ModelError(f"{out}: contains other files; name another --out")


Step = Callable[[int, float], None]
"""Receives the number of a training and the share of it that is done."""


def judge_and_train(
    config: TopicConfig, examples: Examples, apart: Folds | str, step: Step
) -> tuple[Judged, RelevanceModel]:
    """Cross-validate, once more with sites kept apart if they can be, then train on everything."""
    training, seed = config.training, config.crawl.seed
    found = find_keywords(config, examples).words if config.topic.expand else ()
    start = topic_words(config, found)
    numbers = count()

    def one(part: Examples, _fold: int = 0) -> RelevanceModel:
        number = next(numbers)
        model = train_model(training.model, part, seed, start, lambda done: step(number, done))
        step(number, 1.0)
        return model

    seen = cross_validate(examples, training.folds, seed, one)
    never_seen = apart if isinstance(apart, str) else predict_folds(examples, apart, one)
    return Judged(seen, never_seen), one(examples)


@contextmanager
def training_progress(screen: Console, model: str, trainings: int) -> Iterator[Step]:
    """Show a bar over all trainings, on a terminal."""
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        console=screen,
        disable=not screen.is_terminal,
        transient=True,
    ) as bar:
        task = bar.add_task(f"training {model}", total=trainings)

        def step(number: int, done: float) -> None:
            last = number == trainings - 1
            doing = "training on all examples" if last else f"fold {number + 1} of {trainings - 1}"
            bar.update(task, completed=number + done, description=doing)

        yield step


def _save(
    model: RelevanceModel, judged: Judged, config: TopicConfig, web: str | None, out: Path
) -> None:
    """Save the model; its manifest says on what it was trained, and with what result."""
    model.save(out)
    manifest = verified(json.loads((out / MANIFEST).read_text()))
    training = config.training
    manifest["training"] |= {
        "topic": config.name,
        "web": web,
        "labels": list(training.labels),
        "examples": None if training.positives is None else
        [str(training.positives), str(training.negatives)],
        "examples_sha256": _digest(judged.seen.examples),
        "folds": len(judged.seen.folds),
        **_figures(judged.seen),
        "sites_never_seen": None if isinstance(judged.never_seen, str) else
        _figures(judged.never_seen),
    }  # fmt: skip
    replace_file(out / MANIFEST, (json.dumps(signed(manifest), indent=2) + "\n").encode())


def _figures(judged: CrossValidation) -> dict[str, dict[str, float]]:
    return {"mean": judged.mean()._asdict(), "spread": judged.spread()._asdict()}


def _digest(examples: Examples) -> str:
    """Return a digest of the pages that were learnt from."""
    digest = hashlib.sha256()
    for text, label in zip(examples.texts, examples.labels, strict=True):
        digest.update(f"{label} {len(text)}\n{text}".encode(errors="surrogatepass"))
    return digest.hexdigest()
