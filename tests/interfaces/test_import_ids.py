"""An import learns nothing of what others have: an id that is taken becomes another one, always the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ebbing.sync import Memory


def exported(memory: Memory, user: str) -> list[dict[str, Any]]:
    """Everything of a user, the newest first."""
    found: list[dict[str, Any]] = memory.export(user_id=user)["records"]
    return found


def test_what_another_user_has_comes_to_both_and_twice_to_none(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder="none") as memory:
        memory.add("I live in Leeds.", user_id="emma", metadata={"a": 1})
        memory.add("I moved to Lisbon.", user_id="emma")
        lines = exported(memory, "emma")
        done = memory.import_(lines, user_id="bob")
        assert (done["imported"], done["already_stored"], done["refused"]) == (len(lines), 0, [])
        assert memory.import_(lines, user_id="bob")["already_stored"] == len(lines)
        mine = exported(memory, "bob")
        assert {one["content"] for one in mine} == {one["content"] for one in lines}
        assert {one["id"] for one in mine}.isdisjoint({one["id"] for one in lines})
        assert memory.maintenance.verify() == []


def test_what_refers_to_each_other_still_does(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder="none") as memory:
        memory.add("I live in Leeds.", user_id="emma")
        memory.add("I moved to Lisbon.", user_id="emma")
        lines = exported(memory, "emma")
        assert any("superseded_by" in line for line in lines)
        for line in lines:  # one by one, as a stream brings them
            memory.import_([line], user_id="bob")
        ids = {one["id"] for one in exported(memory, "bob")}
        referred = [one["superseded_by"] for one in exported(memory, "bob") if "superseded_by" in one]
        assert referred
        assert set(referred) <= ids


def test_the_answer_is_the_same_whether_the_id_is_taken_or_not(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder="none") as memory:
        acme = memory.for_tenant("acme")
        acme.add("green tea", user_id="emma", infer=False)
        [line] = exported(acme, "emma")
        unknown = {**line, "id": "00000000-0000-7000-8000-000000000000"}
        answers = [memory.import_([one], user_id="bob") for one in (line, unknown)]
        for answer in answers:
            assert len(answer.pop("change_ids")) == 1  # chosen at random
        assert answers[0] == answers[1] == {"imported": 1, "already_stored": 0, "refused": []}
