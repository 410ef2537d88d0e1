"""The documentation as a site: every page has its place, and the reference has every public name."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
import yaml

from ebbing import Memory
from tests.docs.pages import REPOSITORY

DOCS = REPOSITORY / "docs"
SITE = yaml.safe_load((REPOSITORY / "mkdocs.yml").read_text("utf-8"))
REFERENCE = {
    name
    for page in (DOCS / "reference").glob("*.md")
    for name in re.findall(r"^::: (\S+)", page.read_text("utf-8"), re.MULTILINE)
}


def paths(entry: object) -> list[str]:
    """The pages of a part of the navigation, in order."""
    if isinstance(entry, str):
        return [entry]
    parts = entry.values() if isinstance(entry, dict) else entry
    assert not isinstance(parts, str)
    return [path for part in parts for path in paths(part)]  # type: ignore[attr-defined]


def test_every_page_has_one_place_in_the_navigation() -> None:
    listed = paths(SITE["nav"])
    assert sorted(listed) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


def test_the_site_loads_no_font_script_or_style_of_another_host() -> None:
    assert SITE["theme"]["font"] is False
    assert [path for path in SITE["extra"]["polyfills"] if not (DOCS / path).exists()] == []
    assert "//" not in " ".join(SITE.get("extra_css", []) + SITE.get("extra_javascript", []))


@pytest.mark.parametrize("module", ["ebbing", "ebbing.client", "ebbing.mem0", "ebbing.assistant"])
def test_every_public_name_is_in_the_generated_reference(module: str) -> None:
    public = importlib.import_module(module)
    missing = []
    for name in public.__all__:
        value = getattr(public, name)
        home = getattr(value, "__module__", "")
        if name != "__version__" and not {module, value.__name__, f"{home}.{name}"} & REFERENCE - {"ebbing"}:
            missing.append(name)
    assert missing == [], f"no page of docs/reference/ shows {missing}"


def test_every_namespace_of_the_memory_is_in_the_generated_reference(tmp_path: Path) -> None:
    page = (DOCS / "reference" / "namespaces.md").read_text("utf-8")
    with Memory(tmp_path, embedder="none") as memory:
        namespaces = [name for name in vars(memory) if not name.startswith("_")]
    assert [name for name in namespaces if f"## `{name}`" not in page] == []
    assert len(namespaces) >= 10
