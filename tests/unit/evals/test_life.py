"""The eval of everyday conversations splits logs where people pause, and counts what it is told to count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals import life

pytestmark = pytest.mark.anyio


def message(number: int, content: str, *, at: str) -> dict[str, str]:
    return {"id": f"m{number}", "role": "user", "content": content, "timestamp": f"2026-03-0{at}:00+00:00"}


LOG = [
    message(1, "I'm allergic to peanuts.", at="1T09:00"),
    message(2, "My sister Ann lives in Leeds.", at="1T09:30"),
    message(3, "I moved to Lisbon.", at="2T09:00"),
]


def test_a_log_is_split_after_an_hour_of_silence() -> None:
    assert [[part["id"] for part in session] for session in life.sessions(LOG)] == [["m1", "m2"], ["m3"]]


async def test_a_question_is_answered_where_its_evidence_stands_in_the_context(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, LOG)), "utf-8")
    asked = [
        {"question": "What am I allergic to?", "answer": "peanuts", "evidence": ["m1"]},
        {"question": "What am I allergic to?", "answer": "nobody said", "evidence": ["m9"]},
    ]
    verdicts = {("log", "User is allergic to peanuts"): "good"}
    report = await life.replay(path, asked, embedder="none", verdicts=verdicts)
    counts = report.counts()
    assert (counts["messages"], counts["good"], counts["answered"], counts["first"]) == (3, 1, 1, 1)
    assert counts["unjudged"] == len(report.memories) - 1


@pytest.mark.parametrize(
    "name",
    [
        "zh_assistant",
        "zh_friends",
        "zh_mixed",
        "zh_chengdu",
        "en_assistant",
        "en_family",
        "en_mixed",
        "en_lyon",
    ],
)
def test_the_logs_of_the_repository_can_be_read(name: str) -> None:
    lines = [json.loads(line) for line in (life.LOGS / f"{name}.jsonl").read_text("utf-8").splitlines()]
    ids = {line["id"] for line in lines}
    assert len(ids) == len(lines) > 100
    for questions in life.LOGS.glob(f"*{life.QUESTIONS}.jsonl"):
        for question in map(json.loads, questions.read_text("utf-8").splitlines()):
            assert question["log"] != name or set(question["evidence"]) <= ids
