"""`tres` understands every command line in the documentation, run or not."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click
import pytest
from tests.docs.pages import DocPage, all_pages

from tres.cli.command_group import commands

PUNCTUATION = ("&&", "||", "|", "&", ";", "(", ")")
_REDIRECTION = re.compile(r" (?:2>&1|[0-9]?>{1,2} *\S+|< *\S+)")
SHELLS = ("sh", "console")


def command_lines(text: str) -> Iterator[list[str]]:
    """Yield the calls of tres in a shell script, each as a list of words."""
    for line in text.replace("\\\n", " ").splitlines():
        plain = _REDIRECTION.sub("", line.removeprefix("$ "))
        words = shlex.shlex(plain, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        call: list[str] = []
        for word in (*words, ";"):
            if word not in PUNCTUATION:
                call.append(word)
                continue
            if call and call[0].rpartition("/")[2] == "tres":
                yield call[1:]
            call = []


def parse_call(arguments: list[str]) -> None:
    """Parse a call as the program does, without running it; click raises if it is wrong."""
    context = commands.make_context("tres", list(arguments))
    while isinstance(group := context.command, click.Group):
        rest = [*context._protected_args, *context.args]  # what is left for its commands
        name, command, rest = group.resolve_command(context, rest)
        assert command is not None
        context = command.make_context(name, rest, parent=context)


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: page.name)
def test_every_call_of_tres_has_a_command_and_options_that_exist(page: DocPage) -> None:
    for block in page.blocks:
        if block.language in SHELLS:
            for call in command_lines(block.text):
                if call and not {"--help", "-h", "--version"} & set(call):
                    parse_call(call)


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: page.name)
def test_no_page_names_a_command_that_does_not_exist(page: DocPage) -> None:
    named = set(re.findall(r"`tres ([a-z][a-z-]*)", page.text))
    assert named <= set(commands.list_commands(click.Context(commands)))


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: page.name)
def test_commands_are_in_fenced_blocks_that_tests_can_see(page: DocPage) -> None:
    fenced = re.sub(r"^( *)```.*?^\1```", "", page.text, flags=re.DOTALL | re.MULTILINE)
    assert not re.findall(r"^(?: {4}|\t)(?:\S*tres|python|pip|scrapy) .*", fenced, re.MULTILINE)


def test_a_wrong_option_would_be_noticed() -> None:
    (call,) = command_lines("echo y | .venv/bin/tres label runs/bees --shove 3 > out.txt")
    with pytest.raises(click.NoSuchOption):
        parse_call(call)
