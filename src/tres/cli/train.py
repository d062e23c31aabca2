"""`tres train`: train a relevance model and cross-validate it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from tres.cli.console import file_name, messages
from tres.cli.options import PATH, labelled_web, one_of, topic_argument
from tres.errors import ConfigError, ModelError, printable
from tres.files.checksummed import signed, verified
from tres.files.durable import replace_file
from tres.numbers import format_count
from tres.offline import open_web
from tres.relevance.cross_validation import CrossValidation, cross_validate
from tres.relevance.examples import Examples
from tres.relevance.model import RelevanceModel
from tres.relevance.model_files import MANIFEST
from tres.relevance.model_kinds import train_model
from tres.runs.topic_perceiver import find_keywords, topic_examples, topic_words
from tres.settings.sections import MODELS
from tres.settings.topic_file import TopicConfig, load_topic

SHOWN = 10
"""Number of pages listed as least sure, and as worst mistakes."""


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
    if config.training.explores:
        raise ConfigError(
            f"{topic}: training names no examples to train on; give labels, or positives and "
            "negatives"
        )
    out = out or Path("models", f"{file_name(config.name)}-{config.training.model}")
    _refuse_occupied(out, overwrite)
    screen = messages()
    with screen.status("reading the examples"):
        examples = topic_examples(config, None if web is None else open_web(web))
    with training_progress(screen, config) as step:
        judged, model = judge_and_train(config, examples, step)
    _save(model, judged, config, web, out)
    click.echo("\n".join(report(config, judged)))
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
    config: TopicConfig, examples: Examples, step: Step
) -> tuple[CrossValidation, RelevanceModel]:
    """Cross-validate, then train on everything."""
    training, seed = config.training, config.crawl.seed
    found = find_keywords(config, examples).words if config.topic.expand else ()
    start = topic_words(config, found)

    def one(part: Examples, number: int) -> RelevanceModel:
        model = train_model(training.model, part, seed, start, lambda done: step(number, done))
        step(number, 1.0)
        return model

    return cross_validate(examples, training.folds, seed, one), one(examples, training.folds)


@contextmanager
def training_progress(screen: Console, config: TopicConfig) -> Iterator[Step]:
    """Show a bar over all trainings, on a terminal."""
    trainings = config.training.folds + 1
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        console=screen,
        disable=not screen.is_terminal,
        transient=True,
    ) as bar:
        task = bar.add_task(f"training {config.training.model}", total=trainings)

        def step(number: int, done: float) -> None:
            last = number == trainings - 1
            doing = "training on all examples" if last else f"fold {number + 1} of {trainings - 1}"
            bar.update(task, completed=number + done, description=doing)

        yield step


def _save(
    model: RelevanceModel, judged: CrossValidation, config: TopicConfig, web: str | None, out: Path
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
        "examples_sha256": _digest(judged.examples),
        "folds": len(judged.folds),
        "mean": judged.mean()._asdict(),
        "spread": judged.spread()._asdict()
    }  # fmt: skip
    replace_file(out / MANIFEST, (json.dumps(signed(manifest), indent=2) + "\n").encode())


def _digest(examples: Examples) -> str:
    """Return a digest of the pages that were learnt from."""
    digest = hashlib.sha256()
    for text, label in zip(examples.texts, examples.labels, strict=True):
        digest.update(f"{label} {len(text)}\n{text}".encode(errors="surrogatepass"))
    return digest.hexdigest()


def report(config: TopicConfig, judged: CrossValidation) -> Iterator[str]:
    """Yield the lines of the report."""
    examples = judged.examples
    yield (
        f"{config.training.model}: {len(examples.relevant):,} relevant and "
        f"{len(examples.irrelevant):,} other examples, {format_count(len(judged.folds), 'fold')}"
    )
    yield from ("", *_scores(judged), "", *_curve(judged))
    yield from _pages("least sure", judged, judged.least_sure(SHOWN))
    yield from _pages("worst mistakes", judged, judged.worst_mistakes(SHOWN))


def _scores(judged: CrossValidation) -> Iterator[str]:
    mean, spread = judged.mean(), judged.spread()
    for label, key in (("precision", "precision"), ("recall", "recall"), ("macro F1", "macro_f1")):
        yield f"{label:9}  {getattr(mean, key):.3f} ± {getattr(spread, key):.3f}"


def _curve(judged: CrossValidation) -> Iterator[str]:
    yield "probability  pages  mean  actually relevant"
    for each in judged.reliability():
        bar = "#" * round(20 * each.relevant)
        yield (
            f"{each.low:.1f} to {each.high:.1f}  {each.pages:6,}  {each.mean:.2f}  "
            f"{each.relevant:.2f} {bar}".rstrip()
        )


def _pages(heading: str, judged: CrossValidation, places: list[int]) -> Iterator[str]:
    """Yield pages by title, escaped so that none can control the terminal."""
    yield from ("", heading)
    if not places:
        yield "  none"
    for place in places:
        truth = "relevant" if judged.truth[place] else "other"
        title = _title(judged.examples.texts[place])
        yield f"  {judged.probabilities[place]:.2f}  {truth:8}  {title}"


def _title(text: str) -> str:
    title, _, body = text.partition("\n")
    shown = " ".join((title.strip() or body[:200]).split()) or "(no text)"
    return printable(shown if len(shown) <= 70 else f"{shown[:67]}...")
