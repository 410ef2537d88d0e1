"""`make demo`: a bilingual conversation is remembered, recalled and partly forgotten, offline, with the real model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import Any
from unicodedata import normalize

import pytest
from rich.cells import cell_len

from ebbing import Memory
from ebbing.interfaces.cli.app import run
from ebbing.interfaces.cli.demo import play
from ebbing.interfaces.cli.demo.story import PEOPLE, QUESTIONS, conversations, until
from tests.interfaces.cli import runner

pytestmark = pytest.mark.extended


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that the demo keeps."""
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def told(place: Path) -> dict[str, Any]:
    """The demo's own account of a run."""
    code = "from ebbing.interfaces.cli.app import main; main()"
    command = [sys.executable, "-c", code, "demo", "--json", "--path", str(place)]
    done = subprocess.run(command, env=without_settings(), capture_output=True, text=True, check=True)
    account: dict[str, Any] = json.loads(done.stdout)
    return account


def without_settings() -> dict[str, str]:
    """The environment without settings of the person who runs the tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith("EBBING_")}


def sources_of_best(told: dict[str, Any], question: str) -> list[str]:
    """The messages behind the best answer to a question."""
    [answered] = [one for one in told["questions"] if one["question"] == question]
    found: list[str] = answered["results"][0]["source_ids"]
    return found


def test_every_memory_names_the_rule_and_the_sentence_that_it_comes_from(told: dict[str, Any]) -> None:
    said = [
        normalize("NFKC", message["content"])
        for one in conversations()
        for message in one.messages
        if message["role"] == "user"
    ]
    assert {kept["user_id"] for kept in told["kept"]} == set(PEOPLE)
    assert len(told["kept"]) >= 20
    for kept in told["kept"]:
        assert kept["rule"]
        assert any(normalize("NFKC", kept["source_text"]) in text for text in said), kept["source_text"]


def test_every_message_stays_searchable_beside_the_memories(told: dict[str, Any]) -> None:
    kinds = [one["kind"] for one in told["fading"]]
    assert kinds.count("episode") == told["messages"] == sum(len(one.messages) for one in conversations())
    assert kinds.count("memory") == len(told["kept"])


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("我妹妹什么时候结婚？", "zh-2:4"),
        ("Where does Lin Xiao live now?", "zh-4:1"),
        ("Which food is dangerous for the little girl?", "en-1:4"),
        ("她的狗叫什么名字？", "en-2:5"),
    ],
)
def test_a_question_finds_its_message_in_either_language(told: dict[str, Any], question: str, message: str) -> None:
    assert message in sources_of_best(told, question)


def test_two_chinese_characters_are_found_by_keywords_alone(told: dict[str, Any]) -> None:
    [answered] = [one for one in told["questions"] if not one["with_model"]]
    assert len(answered["question"]) == 2
    for hit in answered["results"]:
        assert "keyword" in hit["retriever_scores"]
        assert "semantic" not in hit["retriever_scores"]
        assert answered["question"] in hit["memory"]


def test_thirty_days_later_some_fade_and_some_stay(told: dict[str, Any]) -> None:
    fates = {one["fate"] for one in told["fading"]}
    assert fates == {"protected", "stays", "fades"}
    for one in told["fading"]:
        assert 0 <= one["exponential_later"] <= 1
        assert 0 <= one["later"] <= one["now"] <= 1
        if one["fate"] == "protected":
            assert one["later"] == 1
        if one["recalled"]:
            assert (one["now"], one["fate"] != "fades") == (1, True)
    assert any(one["recalled"] for one in told["fading"])


def test_a_second_run_in_the_same_place_stores_nothing_twice(told: dict[str, Any], place: Path) -> None:
    code = "from ebbing.interfaces.cli.app import main; main()"
    command = [sys.executable, "-c", code, "demo", "--json", "--path", str(place)]
    again = json.loads(
        subprocess.run(command, env=without_settings(), capture_output=True, text=True, check=True).stdout
    )
    assert again["kept"] == []
    assert len(again["fading"]) == len(told["fading"])


def test_the_demo_is_readable_when_it_is_piped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EBBING_EMBEDDER", "none")
    monkeypatch.setenv("EBBING_HISTORY_PATH", str(tmp_path / "mine.db"))
    assert run(["demo"]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert all(name in shown for name in PEOPLE.values())
    assert all(question.text in shown for question in QUESTIONS)
    assert "a simulation" in shown
    assert [line for line in shown.splitlines() if cell_len(line) > 100] == []
    assert not (tmp_path / "mine.db").exists()


def test_what_the_demo_kept_can_be_used_by_the_other_commands(
    told: dict[str, Any], place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EBBING_EMBEDDER", "none")
    ebbing = runner(place, capsys)
    assert ebbing("stats", "--json").json["owners"] == len(PEOPLE)
    assert "green tea" in ebbing("search", "green tea", "--user", "emma").out


@pytest.mark.slow
def test_the_second_run_of_the_demo_ends_within_three_seconds(told: dict[str, Any], tmp_path: Path) -> None:
    environment = {**without_settings(), "PYTHONPYCACHEPREFIX": str(tmp_path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a second run finds what the first one compiled
    seconds = []
    for _ in range(3):
        start = perf_counter()
        code = "from ebbing.interfaces.cli.app import main; main()"
        command = [sys.executable, "-c", code, "demo"]
        subprocess.run(command, env=environment, capture_output=True, check=True)
        seconds.append(perf_counter() - start)
    assert min(seconds) < 3


def test_the_story_can_be_told_as_if_it_had_ended_yesterday() -> None:
    moved = until(datetime(2026, 11, 23, 9, tzinfo=UTC))
    talks = conversations(moved)
    texts = [message["content"] for talk in talks for message in talk.messages]
    assert talks[-1].ended_at.date() == date(2026, 11, 22)
    assert any("10月18日结婚" in text for text in texts)
    assert any("on October 13th" in text for text in texts)
    assert not any("{" in text for text in texts)
    assert all("4月19日" not in text for text in texts)


def test_a_store_for_the_service_holds_a_story_that_ended_yesterday(tmp_path: Path) -> None:
    assert play.kept_in(tmp_path) is True
    assert play.kept_in(tmp_path) is False
    with Memory(path=tmp_path) as memory:
        [newest] = memory.get_all(user_id="linxiao", limit=1)["results"]
        age = memory.components.clock.now() - datetime.fromisoformat(newest["created_at"])
    assert timedelta(0) < age < timedelta(days=8)
