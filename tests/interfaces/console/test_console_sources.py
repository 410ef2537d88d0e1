"""The sources of the console: what may never be in them, and what both languages must have."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from string import Formatter

import pytest

REPOSITORY = Path(__file__).parents[3]
SOURCES = REPOSITORY / "console" / "src"
BUILT = REPOSITORY / "src" / "ebbing" / "interfaces" / "console" / "static"
MODULES = sorted([*SOURCES.rglob("*.ts"), *SOURCES.rglob("*.tsx")])
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|style=\"|cssText|javascript:"
)
OTHER_HOST = re.compile(r"""https?://(?!www\.w3\.org/)\w|["'(]//\w""")
MOST_LINES = 300
MOST_BYTES = 200_000


def words(language: str) -> dict[str, str]:
    texts: dict[str, str] = json.loads((SOURCES / "i18n" / f"{language}.json").read_text("utf-8"))
    return texts


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_have_the_same_keys() -> None:
    assert sorted(words("en")) == sorted(words("zh"))


def test_a_text_has_the_same_placeholders_in_both_languages() -> None:
    chinese = words("zh")
    assert [key for key, text in words("en").items() if placeholders(text) != placeholders(chinese[key])] == []


def test_every_chinese_text_is_chinese() -> None:
    assert [key for key, text in words("zh").items() if not re.search(r"[\u4e00-\u9fff]", text)] == []


def test_no_key_is_written_twice() -> None:
    for language in ("en", "zh"):
        pairs = json.loads((SOURCES / "i18n" / f"{language}.json").read_text("utf-8"), object_pairs_hook=list)
        names = [name for name, _ in pairs]
        assert len(names) == len(set(names))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.relative_to(SOURCES).as_posix())
def test_a_module_makes_no_markup_of_text_and_stays_short(module: Path) -> None:
    text = module.read_text("utf-8")
    assert FORBIDDEN.findall(text) == []
    assert text.count("\n") <= MOST_LINES


def test_the_built_page_names_no_other_host() -> None:
    for name in ("index.html", "app.js", "app.css"):
        assert OTHER_HOST.findall((BUILT / name).read_text("utf-8")) == []


def test_the_built_page_has_no_script_and_no_style_within_it() -> None:
    page = (BUILT / "index.html").read_text("utf-8")
    assert re.findall(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=", page) == []


def test_the_page_weighs_little() -> None:
    assert sum(len(gzip.compress(place.read_bytes())) for place in BUILT.rglob("*") if place.is_file()) <= MOST_BYTES
