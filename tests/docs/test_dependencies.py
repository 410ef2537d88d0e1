"""docs/dependencies.md lists exactly what pyproject.toml asks for."""

from __future__ import annotations

import re
import tomllib

from tests.docs.pages import REPOSITORY, rows

PAGE = (REPOSITORY / "docs" / "dependencies.md").read_text("utf-8")
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]


def package_name(requirement: str) -> str:
    matched = re.match(r"[\w.-]+", requirement)
    assert matched, requirement
    return matched[0]


def section(title: str) -> list[list[str]]:
    """The table rows under a heading, without the table's own heading."""
    return rows(PAGE.split(f"## {title}\n")[1].split("\n## ")[0])[1:]


def test_every_runtime_dependency_is_explained_and_no_other() -> None:
    documented = [row[0] for row in section("Always installed")]
    assert sorted(documented) == sorted({package_name(requirement) for requirement in PROJECT["dependencies"]})


def test_every_extra_is_explained_and_no_other() -> None:
    documented = [(row[0], row[1]) for row in section("Extras")]
    extras = PROJECT["optional-dependencies"]
    assert sorted(documented) == sorted((name, package_name(r)) for name, rs in extras.items() for r in rs)


def test_no_cell_of_the_tables_is_left_empty() -> None:
    every = section("Always installed") + section("Extras")
    assert [row for row in every if len(row) != 4 or not all(row)] == []
