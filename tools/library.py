"""The reference page of `import tres`: every name with its signature and its docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import tres


def library_page(made: str) -> Iterator[str]:
    """Functions first, then classes, then the rest."""
    yield from ("# Names of the library", "", made, "")
    yield "What a program of yours may rely on; how to use it: [tres as a library](../library.md)."
    named = {name: getattr(tres, name) for name in tres.__all__}
    for name, thing in sorted(named.items(), key=lambda pair: (inspect.isclass(pair[1]), pair[0])):
        if inspect.isfunction(thing):
            yield from ("", f"## {name}", "", "```text", _signature(name, thing), "```")
            yield from ("", _words(thing))
        elif inspect.isclass(thing):
            yield from ("", f"## {name}", "", _words(thing), *_members(thing))
    yield from ("", "## The rest", "", "| name | what it is |", "|---|---|")
    yield "| `__version__` | the version of tres, as text |"
    yield "| `errors` | the kinds of `TresError`: [errors](../library.md#errors) |"


def _signature(name: str, function: object) -> str:
    assert callable(function)
    signature = inspect.signature(function)
    arguments = [str(argument) for argument in signature.parameters.values()]
    kinds = [argument.kind for argument in signature.parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY in kinds:
        arguments.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    lines = "".join(f"    {argument},\n" for argument in arguments)
    return re.sub(r": '([^']+)'", r": \1", f"{name}(\n{lines}) -> {signature.return_annotation}")


def _members(kind: type) -> Iterator[str]:
    """The public members of a class, with their docstrings."""
    if names := _fields(kind):
        yield from ("", f"Fields: {', '.join(f'`{name}`' for name in names)}.")
    told = [
        (f"{name}()" if inspect.isfunction(value) else name, _words(_function(value)))
        for name, value in sorted(vars(kind).items())
        if not name.startswith("_") and _words(_function(value))
    ]
    if told:
        yield from ("", "| | |", "|---|---|")
    for name, words in told:
        yield f"| `{name}` | {words.replace('|', '/')} |"


def _fields(kind: type) -> list[str]:
    if is_dataclass(kind):
        return [field.name for field in fields(kind)]
    return list(getattr(kind, "__struct_fields__", ()))


def _function(member: object) -> object:
    """The function behind a property or a class method, which carries the docstring."""
    return getattr(member, "fget", None) or getattr(member, "__func__", None) or member


def _words(thing: object) -> str:
    """The first paragraph of a docstring; empty for a plain value."""
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        return ""
    first = (inspect.getdoc(thing) or "").split("\n\n")[0]
    return re.sub(r"\s+", " ", first)
