"""Whatever a call wrote can be taken back, as a whole or by memory; what was erased cannot."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ebbing import Memory
from ebbing.domain.errors import (
    ChangeNotFoundError,
    ClosedMemoryError,
    ConflictError,
    ErasedForGoodError,
    InvalidInputError,
    MemoryNotFoundError,
)
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings

USER = {"user_id": "ada"}
TEA = ("I love green tea.", "I really love green tea!", "I love green tea")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture(params=["sqlite", "ephemeral"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[Memory]:
    chosen = load_settings({"path": tmp_path, "store": request.param, "owner_text_limit_bytes": 200})
    with Memory(components=build(chosen, embedder=FakeEmbedder(64), clock=clock)) as memory:
        yield memory


def texts(memory: Memory, **more: Any) -> list[str]:
    return sorted(item["memory"] for item in memory.get_all(**USER, **more)["results"])


def the(memory: Memory, text: str) -> str:
    found = memory.get_all(**USER, superseded=True, include="all")["results"]
    return next(str(item["id"]) for item in found if item["memory"] == text)


def test_undoing_an_add_reopens_what_it_closed(memory: Memory) -> None:
    memory.add("I live in Paris.", **USER)
    moved = memory.add("I moved to Berlin.", **USER)
    assert texts(memory) == ["User moved to Berlin"]
    done = memory.undo(moved["change_id"])
    assert texts(memory) == ["User lives in Paris"]
    assert (done["undone"], done["cause"], done["left"]) == (moved["change_id"], "add", [])
    assert done["restored"] == [the(memory, "User lives in Paris")]
    assert all("Berlin" not in hit["memory"] for hit in memory.search("Berlin", **USER, include="all")["results"])
    assert memory.maintenance.verify() == []


def test_a_change_is_undone_once_and_its_undoing_can_be_undone(memory: Memory) -> None:
    added = memory.add("I live in Paris.", **USER)
    undone = memory.undo(added["change_id"])
    with pytest.raises(ConflictError, match=undone["change_id"]):
        memory.undo(added["change_id"])
    memory.undo(undone["change_id"])
    assert texts(memory) == ["User lives in Paris"]
    assert memory.undo(added["change_id"])["left"] == []
    assert texts(memory) == []


def test_without_an_id_the_last_change_is_undone_and_then_the_one_before(memory: Memory) -> None:
    memory.add("I live in Paris.", **USER)
    memory.add("I love jazz.", **USER)
    memory.feedback(the(memory, "User loves jazz"), "used")
    assert memory.undo(**USER)["cause"] == "add"
    assert texts(memory) == ["User lives in Paris"]
    memory.undo(**USER)
    assert texts(memory) == []
    with pytest.raises(ChangeNotFoundError):
        memory.undo(**USER)


def test_the_changes_are_listed_newest_first_with_what_took_them_back(memory: Memory, clock: ManualClock) -> None:
    first = memory.add("I live in Paris.", **USER)["change_id"]
    clock.advance(timedelta(hours=1))
    second = memory.add("I moved to Berlin.", **USER)["change_id"]
    third = memory.undo(second)["change_id"]
    listed = memory.changes.list(**USER)
    assert [one["id"] for one in listed["changes"]] == [third, second, first]
    undoing, moved, added = listed["changes"]
    assert (undoing["cause"], undoing["undoes"], moved["undone_by"]) == ("undo", second, third)
    assert (added["cause"], added["inserted"], added["revised"], added["undone_by"]) == ("add", 2, 0, None)
    assert (moved["inserted"], moved["revised"], moved["at"]) == (2, 1, clock.now().isoformat())
    page = memory.changes.list(**USER, limit=1)
    assert memory.changes.list(**USER, limit=5, cursor=page["next_cursor"])["changes"] == listed["changes"][1:]


def test_a_round_of_maintenance_is_undone_as_a_whole(memory: Memory, clock: ManualClock) -> None:
    for number, text in enumerate(TEA):
        memory.add(text, **USER, run_id=f"day{number}", infer=False)
    memory.add("I went to see the lake near the old mill and it was a very fine day.", **USER, infer=False)
    before = {one["id"]: one | {"version": 0} for one in memory.get_all(**USER)["results"]}
    clock.advance(timedelta(days=400))
    done = memory.maintenance.run(**USER, now=clock.now() - timedelta(days=380))
    [change_id] = done["change_ids"]
    assert {one["id"] for one in memory.get_all(**USER)["results"]} != before.keys()
    undone = memory.undo(change_id)
    assert undone["left"] == []
    assert {one["id"]: one | {"version": 0} for one in memory.get_all(**USER)["results"]} == before
    assert memory.search("green tea", **USER)["results"]
    assert memory.maintenance.verify() == []


def test_one_memory_gets_back_what_a_round_took_and_the_others_stay(memory: Memory) -> None:
    for number, text in enumerate(TEA):
        memory.add(text, **USER, run_id=f"day{number}", infer=False)
    memory.add("I bought a red bicycle.", **USER, infer=False)
    bicycle = the(memory, "I bought a red bicycle.")
    [change_id] = memory.maintenance.merge_duplicates(**USER)["change_ids"]
    done = memory.undo(memory_id=the(memory, TEA[2]))
    assert (done["undone"], len(done["restored"]), len(done["deleted"])) == (change_id, 3, 1)
    assert texts(memory) == sorted([*TEA, "I bought a red bicycle."])
    assert bicycle not in done["restored"]
    assert memory.maintenance.verify() == []


def test_a_faded_memory_has_its_text_and_vector_back(memory: Memory, clock: ManualClock) -> None:
    said = "Today we talked about the weather in city {}, it was rather fine and a little windy I think."
    for number in range(10):
        memory.add(said.format(number), **USER, infer=False)
    before = {one["id"]: one for one in memory.get_all(**USER)["results"]}
    memory.maintenance.apply_forgetting(**USER, now=clock.now() + timedelta(days=20))
    there = {one["id"]: one for one in memory.get_all(**USER)["results"]}
    shortened = [name for name, one in there.items() if one["memory"] != before[name]["memory"]]
    packed = before.keys() - there.keys()
    assert shortened or packed
    for name in (*shortened[:2], *sorted(packed)[:2]):
        memory.undo(memory_id=name)
        assert memory.get(name) | {"version": 0} == before[name] | {"version": 0}
        hits = memory.search(before[name]["memory"], **USER, limit=50)["results"]
        assert "semantic" in next(hit for hit in hits if hit["id"] == name)["retriever_scores"]


def test_an_edit_has_its_old_text_back_and_a_deleted_memory_is_there_again(memory: Memory) -> None:
    memory.add("I live in Paris.", **USER)
    one = the(memory, "User lives in Paris")
    edited = memory.update(one, "Lives in Oslo")
    memory.delete(one)
    assert memory.undo(memory_id=one)["cause"] == "delete"
    assert memory.get(one)["memory"] == "Lives in Oslo"
    assert memory.undo(memory_id=one)["undone"] == edited["change_id"]
    assert memory.get(one)["memory"] == "User lives in Paris"
    assert memory.get(one)["attribute"] == "home"
    assert memory.undo(memory_id=one)["cause"] == "add"
    assert memory.get(one) is None
    with pytest.raises(ChangeNotFoundError):
        memory.undo(memory_id=one)


def test_what_was_changed_again_since_is_left_alone_unless_forced(memory: Memory) -> None:
    both = memory.add(["I live in Paris.", "I love jazz."], **USER)
    home = the(memory, "User lives in Paris")
    memory.update(home, "Lives in Oslo")
    done = memory.undo(both["change_id"])
    assert done["left"] == [{"memory_id": home, "reason": "it was changed again since"}]
    assert texts(memory) == ["Lives in Oslo"]
    memory.undo(done["change_id"])
    assert memory.undo(both["change_id"], force=True)["left"] == []
    assert texts(memory) == []


def test_what_stepped_aside_for_a_memory_that_is_left_alone_stays_aside(memory: Memory) -> None:
    memory.add("I live in Paris.", **USER)
    moved = memory.add("I moved to Berlin.", **USER)
    memory.update(the(memory, "User moved to Berlin"), "Lives in Berlin with a cat")
    done = memory.undo(moved["change_id"])
    assert {one["memory_id"] for one in done["left"]} == {
        the(memory, "Lives in Berlin with a cat"),
        the(memory, "User lives in Paris"),
    }
    assert texts(memory) == ["Lives in Berlin with a cat"]


def test_no_value_becomes_current_beside_another_that_came_since(memory: Memory) -> None:
    memory.add("I live in Paris.", **USER)
    gone = memory.delete(the(memory, "User lives in Paris"))
    memory.add("I live in Rome.", **USER)
    done = memory.undo(gone["change_id"])
    assert [one["reason"] for one in done["left"]] == ["another value of it is current by now"]
    assert texts(memory) == ["User lives in Rome"]
    rome = the(memory, "User lives in Rome")
    assert memory.undo(gone["change_id"], force=True)["superseded"] == [rome]
    assert texts(memory) == ["User lives in Paris"]


def test_an_import_in_several_calls_is_undone_as_one(memory: Memory) -> None:
    first = memory.add("I live in Paris.", user_id="ben")
    records = memory.export(user_id="ben")["records"]
    kept = memory.add("I love jazz.", **USER)
    one = memory.import_(records[:1], **USER)
    two = memory.import_(records[1:], **USER, change_ids=one["change_ids"])
    assert one["change_ids"] == two["change_ids"]
    more = memory.add("I work at Acme.", **USER, change_id=one["change_ids"][0])
    assert more["change_id"] == one["change_ids"][0]
    memory.undo(more["change_id"])
    assert texts(memory) == ["User loves jazz"]
    assert len({first["change_id"], kept["change_id"], more["change_id"]}) == 3


def test_what_was_erased_for_good_never_comes_back(memory: Memory) -> None:
    added = memory.add("I live in Paris.", **USER)
    memory.delete_all(**USER)
    with pytest.raises(ChangeNotFoundError):
        memory.undo(added["change_id"])
    kept = memory.add("I love jazz.", **USER, infer=False)["results"][0]["id"]
    erased = memory.delete(kept, hard=True)
    for change in memory.changes.list(**USER)["changes"]:
        with pytest.raises(ErasedForGoodError):
            memory.undo(change["id"])
    with pytest.raises(MemoryNotFoundError):
        memory.undo(memory_id=kept)
    assert erased["change_id"] is not None
    assert texts(memory, include="all") == []


def test_nobody_undoes_what_is_somebody_elses(memory: Memory) -> None:
    added = memory.add("I live in Paris.", **USER)
    with pytest.raises(ChangeNotFoundError):
        memory.undo(added["change_id"], user_id="ben")
    with pytest.raises(ChangeNotFoundError):
        memory.for_tenant("other").undo(added["change_id"])
    with pytest.raises(MemoryNotFoundError):
        memory.undo(memory_id=the(memory, "User lives in Paris"), user_id="ben")
    assert memory.changes.list(user_id="ben")["changes"] == []
    assert texts(memory) == ["User lives in Paris"]


def test_a_call_to_undo_says_what_is_wrong_with_it(memory: Memory) -> None:
    for wrong in ({"change_id": "a", "memory_id": "b"}, {"change_id": ""}, {"user_id": "a", "run_id": "b"}):
        with pytest.raises(InvalidInputError):
            memory.undo(**wrong)
    with pytest.raises(InvalidInputError):
        memory.undo()
    with pytest.raises(ChangeNotFoundError):
        memory.undo("unknown")
    with pytest.raises(InvalidInputError):
        memory.changes.list(user_id="a", run_id="b")


def test_what_was_kept_for_undoing_is_dropped_after_its_days(memory: Memory, clock: ManualClock) -> None:
    added = memory.add("My name is Ada.", **USER)
    clock.advance(timedelta(days=29))
    memory.maintenance.run(**USER)
    assert memory.changes.list(**USER)["changes"][-1]["id"] == added["change_id"]
    clock.advance(timedelta(days=2))
    memory.maintenance.run(**USER)
    with pytest.raises(ChangeNotFoundError):
        memory.undo(added["change_id"])
    assert texts(memory) == ["User's name is Ada"]


def test_restoring_a_superseded_memory_closes_its_rival_in_turn(memory: Memory) -> None:
    memory.add("I live in Paris.", **USER)
    memory.add("I moved to Berlin.", **USER)
    paris, berlin = the(memory, "User lives in Paris"), the(memory, "User moved to Berlin")
    restored = memory.restore(paris)
    assert (restored["superseded"], restored.get("valid_to")) == ([berlin], None)
    assert texts(memory) == ["User lives in Paris"]
    assert memory.search("home Paris", **USER)["results"][0]["id"] == paris
    memory.undo(restored["change_id"])
    assert texts(memory) == ["User moved to Berlin"]


def test_what_is_no_rival_stays_when_a_superseded_memory_is_restored(memory: Memory) -> None:
    memory.add("I play the piano.", **USER)
    memory.add("I no longer play the piano.", **USER)
    piano = the(memory, "User plays the piano")
    assert "User plays the piano" not in texts(memory)
    restored = memory.restore(piano)
    assert "User plays the piano" in texts(memory)
    assert set(restored["superseded"]) <= {one["id"] for one in memory.get_all(**USER, superseded=True)["results"]}


def test_a_closed_memory_takes_no_new_text_until_it_is_restored(memory: Memory) -> None:
    memory.add("I live in Paris.", **USER)
    memory.add("I moved to Berlin.", **USER)
    paris = the(memory, "User lives in Paris")
    with pytest.raises(ClosedMemoryError, match="restore it first"):
        memory.update(paris, "Lives in Paris now")
    assert memory.update(paris, metadata={"checked": True})["metadata"] == {"checked": True}
    memory.restore(paris)
    assert memory.update(paris, "Lives in Paris now")["memory"] == "Lives in Paris now"
    assert texts(memory) == ["Lives in Paris now"]
