"""What a release promises: one version everywhere, a changelog for it, pinned tools, and a README of two screens."""

from __future__ import annotations

import re
import tomllib

import ebbing
from tests.docs.pages import REPOSITORY
from tests.docs.test_dependencies import package_name

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
LOCK = (REPOSITORY / "requirements-dev.lock").read_text("utf-8")


def test_the_version_is_the_same_everywhere_and_has_a_section_in_the_changelog() -> None:
    assert ebbing.__version__ == PROJECT["version"]
    assert f"\n## [{PROJECT['version']}]" in (REPOSITORY / "CHANGELOG.md").read_text("utf-8")


def test_the_lock_pins_every_development_tool() -> None:
    def plain(name: str) -> str:
        return re.sub(r"[-_.]+", "-", name).lower()

    pinned = {plain(name) for name in re.findall(r"^([\w.-]+)==", LOCK, re.MULTILINE)}
    asked = {plain(package_name(line)) for line in PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dev"]}
    assert asked - pinned == set(), "run `make lock`"


def test_the_lock_names_neither_a_host_nor_a_folder() -> None:
    assert re.findall(r"^.*(?:://|file:|--\w|/\w+/).*$", LOCK, re.MULTILINE) == []


def test_the_readme_fits_two_screens_and_opens_with_what_to_run() -> None:
    lines = (REPOSITORY / "README.md").read_text("utf-8").splitlines()
    assert len(lines) <= 120
    opening = "\n".join(lines[:15])
    assert "make run" in opening
    assert "make test" in opening
