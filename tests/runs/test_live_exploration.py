"""Which settings an exploration that was stopped must still have to continue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tres.runs.live_exploration import exploration_digest
from tres.settings.sections import TopicSection, TrainingSection
from tres.settings.setting import Section
from tres.settings.topic_file import TopicConfig


def config_of(*keywords: str) -> TopicConfig:
    topic, training = TopicSection(keywords=keywords), TrainingSection(model="auto")
    return TopicConfig(name="bees", topic=topic, training=training)


def test_an_exploration_continues_after_a_release_that_words_the_settings_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before, plain = exploration_digest(config_of("bee")), Section.to_toml

    def reworded(section: Section) -> Iterator[str]:
        for line in plain(section):
            yield f"{line}, in other words" if line.startswith("#") else line

    monkeypatch.setattr(Section, "to_toml", reworded)
    assert exploration_digest(config_of("bee")) == before


def test_an_exploration_with_other_settings_is_another_one() -> None:
    config = config_of("bee")
    digest = exploration_digest(config)
    assert exploration_digest(config_of("bee", "hive")) != digest
    assert exploration_digest(replace(config, live=replace(config.live, max_bytes=9_000))) != digest
    assert exploration_digest(config.override(delay=9.0)) == digest
