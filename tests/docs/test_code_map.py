"""The map of the code: README, how-it-works and the picture name every package, and no other."""

from __future__ import annotations

import re
import tomllib
from pkgutil import resolve_name

import pytest
from tests.docs.pages import DOCS, ROOT, DocPage, all_pages
from tools.code_map import BOXES, code_map

CODE = ROOT / "src" / "tres"
_ROW = re.compile(r"^\| `([a-z_/]+/|[a-z_]+\.py)` \| \S.+ \|$", re.MULTILINE)
_STORY = (
    "topic/ relevance/ web/ mdp/ frontier/ agent/ policies/ crawl/ engines/ offline/ store/ runs/ "
    "bench/ report/ dashboard/ cli/ api/ scrapy_plugin/ settings/ files/ errors.py"
).split()


def packages_of_the_code() -> set[str]:
    """Every package, and the modules that stand beside the packages."""
    packages = {f"{path.parent.relative_to(CODE)}/" for path in CODE.glob("*/**/__init__.py")}
    return packages | {path.name for path in CODE.glob("[a-z]*.py")}


def packages_on(page: str) -> list[str]:
    return _ROW.findall((ROOT / page).read_text(encoding="utf-8").partition("| package |")[2])


@pytest.mark.parametrize("page", ["README.md", "docs/how-it-works.md"])
def test_the_map_names_every_package_once_and_none_that_does_not_exist(page: str) -> None:
    named = packages_on(page)
    assert set(named) == packages_of_the_code()
    assert len(named) == len(set(named))


@pytest.mark.parametrize("page", ["README.md", "docs/how-it-works.md"])
def test_the_map_follows_the_story_of_one_step(page: str) -> None:
    assert [name for name in packages_on(page) if name in _STORY] == _STORY


def test_the_picture_shows_every_folder_that_is_not_inside_another() -> None:
    drawn, known = {box.name for box in BOXES}, packages_of_the_code()
    assert drawn <= known
    assert {name for name in known - drawn if name.count("/") == 1} == set()


def test_the_picture_in_the_documentation_is_up_to_date() -> None:
    drawn = (DOCS / "pictures" / "code-map.svg").read_text(encoding="utf-8")
    assert drawn == f"{code_map()}\n", "run `python -m tools.pictures code-map`"


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: page.name)
def test_every_file_of_the_code_that_a_page_names_exists(page: DocPage) -> None:
    prose = re.sub(r"^( *)```.*?^\1```", "", page.text, flags=re.DOTALL | re.MULTILINE)
    with_a_folder = set(re.findall(r"`((?:[\w-]+/)+\w+\.py)`", prose))
    roots = (ROOT, CODE, ROOT / "src")
    assert [name for name in with_a_folder if not any((at / name).exists() for at in roots)] == []
    alone = set(re.findall(r"`(\w+\.py)`", prose)) - {block.title for block in page.blocks}
    assert alone <= {path.name for path in CODE.rglob("*.py")}


def test_the_layers_of_the_documentation_are_those_that_lint_checks() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = [
        contract["layers"]
        for contract in project["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    ]
    table = (
        (DOCS / "contribute.md").read_text(encoding="utf-8").partition("| layer | packages |")[2]
    )
    rows = re.findall(r"^\| [^|`]+ \| ([^|]+) \| [^|]+ \|$", table.partition("\n\n")[0], re.M)
    shown = [set(re.findall(r"`(\w+)`", row)) for row in rows]
    assert shown == [set(layer.split(" | ")) for layer in layers]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a page may say what has moved
@pytest.mark.parametrize("page", all_pages(), ids=lambda page: page.name)
def test_every_name_of_the_code_that_a_page_mentions_exists(page: DocPage) -> None:
    for name in set(re.findall(r"`(tres(?:\.\w+)+)(?:\([^`]*\))?`", page.text)):
        resolve_name(name)


def test_a_name_that_is_gone_would_be_noticed() -> None:
    with pytest.raises(AttributeError):
        resolve_name("tres.store.orders.Helm")
