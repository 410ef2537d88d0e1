"""`ebbing profile …` as a person meets it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tests.interfaces.cli import Ebbing


def test_a_profile_is_shown_set_and_taken_out(ebbing: Ebbing) -> None:
    ebbing("add", "I live in Rome and I'm allergic to peanuts", "-u", "emma")
    shown = ebbing("profile", "show", "-u", "emma").out
    assert "User lives in Rome" in shown
    assert "kept safe" in shown
    done = ebbing("profile", "set", "home", "New", "York", "-u", "emma", "--json").json
    assert [(entry["key"], entry["value"]) for entry in done["facts"]] == [("home", "New York")]
    assert "set by hand" in ebbing("profile", "set", "preferences", "jazz", "-u", "emma").out
    gone = ebbing("profile", "unset", "home", "preferences.jazz", "-u", "emma", "--json").json
    assert (gone["facts"], gone["preferences"]) == ([], [])
    assert "home" in ebbing("profile", "unset", "home", "--revert", "-u", "emma").out


def test_removing_with_forget_forgets_the_memories(ebbing: Ebbing) -> None:
    ebbing("add", "I love jazz", "-u", "emma")
    ebbing("profile", "unset", "jazz", "--delete-memories", "-u", "emma")
    assert "jazz" not in ebbing("list", "-u", "emma").out
    assert ebbing("profile", "unset", "jazz", "--delete-memories", "--revert", "-u", "emma").code == 2


def test_rebuilding_gives_the_same_profile(ebbing: Ebbing) -> None:
    ebbing("add", "I love jazz", "-u", "emma")
    before = ebbing("profile", "show", "-u", "emma", "--json").json
    after = ebbing("profile", "rebuild", "-u", "emma", "--json").json
    assert (after["version"], after["preferences"][0]["memory_ids"]) == (
        before["version"],
        before["preferences"][0]["memory_ids"],
    )


def test_a_profile_comes_from_a_file_and_defaults_hold_for_everybody(
    ebbing: Ebbing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "profile.json"
    file.write_text(json.dumps({"home": "Leeds"}), "utf-8")
    assert ebbing("profile", "import", file, "-u", "emma", "--json").json["stored"] == 1
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"constraints": ["answer briefly"]}'))
    ebbing("profile", "defaults", "-")
    assert "holds for everybody" in ebbing("profile", "show", "-u", "tom").out
    ebbing("profile", "defaults", "--clear")
    assert "Nothing is stored of user tom" in ebbing("profile", "show", "-u", "tom").out
    file.write_text("{home", "utf-8")
    broken = ebbing("profile", "import", file, "-u", "emma")
    assert (broken.code, "no JSON" in broken.err) == (2, True)
    assert ebbing("profile", "defaults").code == 2


@pytest.mark.usefixtures("empty_store")
def test_questions_are_suggested_in_a_language(ebbing: Ebbing) -> None:
    assert "怎么称呼你" in ebbing("profile", "questions", "--language", "zh", "-u", "emma").out
    found = ebbing("profile", "questions", "-n", "2", "-u", "emma", "--json").json
    assert [one["about"] for one in found] == ["name", "allergies"]


@pytest.mark.usefixtures("empty_store")
def test_a_profile_is_somebodys(ebbing: Ebbing) -> None:
    ended = ebbing("profile", "show")
    assert (ended.code, "--user" in ended.err) == (2, True)


@pytest.mark.usefixtures("empty_store")
def test_the_graph_is_shown_and_drawn(ebbing: Ebbing) -> None:
    assert "Nothing is stored of user emma" in ebbing("graph", "-u", "emma").out
    ebbing("add", "My sister is called Lily", "-u", "emma")
    ebbing("add", "My sister works at Acme", "-u", "emma")
    assert "Lily  employer  Acme" in ebbing("graph", "Lily", "-u", "emma").out
    assert "Nothing is known of that" in ebbing("graph", "Tom", "--hops", "2", "--include-ended", "-u", "emma").out
    assert ebbing("graph", "-u", "emma", "--dot").out.startswith("digraph")
    assert len(ebbing("graph", "-u", "emma", "--json").json["relations"]) == 2
    assert ebbing("graph", "--as-of", "soon", "-u", "emma").code == 2
    assert ebbing("graph").code == 2
