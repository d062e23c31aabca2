"""`tres keywords`: show the keywords that expansion finds."""

from __future__ import annotations

from pathlib import Path

import click

from tres.cli.console import messages
from tres.cli.options import labelled_web, one_of, topic_argument
from tres.errors import printable
from tres.numbers import format_count
from tres.offline import open_web
from tres.relevance.examples import Examples
from tres.runs.topic_perceiver import find_keywords, topic_examples
from tres.settings.sections import VECTORS
from tres.settings.setting import toml
from tres.settings.topic_file import TopicConfig, load_topic
from tres.topic.expansion import Expansion, Keyword
from tres.topic.text import words


@click.command()
@topic_argument("topic")
@labelled_web
@click.option(
    "--vectors",
    metavar="VECTORS",
    help="Use these word vectors: a name or a file.",
    shell_complete=one_of(VECTORS),
)
def keywords(topic: Path, web: str | None, vectors: str | None) -> None:
    """Find more keywords for a topic.

    TOPIC is the topic file. New keywords are words of the relevant examples that are as similar
    to the given keywords as those are to each other. Strike out what does not fit (topic.strike),
    and let `tres crawl` use the rest (topic.expand).

    Example: tres keywords biology.toml --web encyclopedia.jsonl.gz
    """
    config = load_topic(topic).override(vectors=vectors)
    with messages().status("looking for keywords"):
        examples = _examples(config, web)
        expansion = find_keywords(config, examples)
    for line in (
        *_given(expansion),
        *_table(expansion.found),
        *_totals(expansion, examples),
        *_struck(expansion, config),
        *_next_steps(config, topic, expansion),
    ):
        click.echo(line)


def _examples(config: TopicConfig, web: str | None) -> Examples | None:
    if config.training.load is not None:
        return None
    return topic_examples(config, None if web is None else open_web(web))


def _given(expansion: Expansion) -> list[str]:
    shown = ", ".join(f"{printable(word)} {score:.2f}" for word, score in expansion.given)
    lines = [f"given, with their similarity to each other: {shown}"]
    if expansion.without_vector:
        unknown = ", ".join(map(printable, expansion.without_vector))
        lines.append(f"given, but without a word vector: {unknown}")
    return [*lines, ""]


def _table(found: tuple[Keyword, ...]) -> list[str]:
    lines = ["score  in relevant  in other  new keyword"] if found else []
    return lines + [
        f"{new.score:5.3f}  {new.relevant:11.3f}  {new.other:8.3f}  {printable(new.word)}"
        for new in found
    ]


def _totals(expansion: Expansion, examples: Examples | None) -> list[str]:
    """Return the totals, as in Table 2 of the paper."""
    total = (
        f"{format_count(len(expansion.found), 'new keyword')} of "
        f"{format_count(expansion.candidates, 'candidate')}, "
        f"score {expansion.threshold:.3f} or more"
    )
    if not expansion.found or examples is None:
        return [total]
    ratio = f", {expansion.relevant / expansion.other:.1f} times" if expansion.other else ""
    return [
        "",
        total,
        f"new keywords per page: {expansion.relevant:.2f} in {len(examples.relevant):,} relevant "
        f"examples, {expansion.other:.2f} in {len(examples.irrelevant):,} others{ratio}",
    ]


def _struck(expansion: Expansion, config: TopicConfig) -> list[str]:
    struck = {keyword.word for keyword in expansion.struck}
    asked = {word for term in config.topic.strike for word in words(term)}
    lines = [f"struck out: {', '.join(sorted(struck))}"] if struck else []
    if idle := sorted(asked - struck):
        lines.append(f"topic.strike also names words that were not found: {', '.join(idle)}")
    return lines


def _next_steps(config: TopicConfig, topic: Path, expansion: Expansion) -> list[str]:
    """Return what to do with the list."""
    worst = tuple(new.word for new in expansion.found[-2:])
    lines = []
    if worst:
        kept = toml(config.topic.strike + worst)
        lines.append(f"To leave out words, list them in {topic} under [topic]: strike = {kept}")
    if not config.topic.expand:
        lines.append("To crawl with these keywords, add there: expand = true")
    return ["", *lines] if lines else []
