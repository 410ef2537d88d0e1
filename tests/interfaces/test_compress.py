"""compress and expand: few memories of many, many of few, and what becomes of them when somebody changes one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ebbing import Memory
from ebbing.domain.errors import InvalidInputError, MemoryNotFoundError
from ebbing.testing.models.embedder import FakeEmbedder
from tests.interfaces.cli import Ebbing

TEA = ("I love green tea.", "I really love green tea!", "I love green tea")


def everything(memory: Memory) -> dict[str, Any]:
    """What is listed, by id, without the count of its changes."""
    return {item["id"]: item | {"version": 0} for item in memory.get_all(user_id="ada")["results"]}


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with Memory(tmp_path, embedder=FakeEmbedder(64)) as memory:
        yield memory


def message(text: str, number: int) -> dict[str, Any]:
    return {"role": "user", "content": text, "id": f"m{number}", "timestamp": f"2026-03-{number + 1:02}T09:00:00Z"}


def fill(memory: Memory, *, infer: bool = False, **scope: str) -> None:
    for number, text in enumerate(TEA):
        memory.add([message(text, number)], **{"user_id": "ada", "run_id": f"day{number}", **scope}, infer=infer)


def told(memory: Memory, **scope: str) -> list[str]:
    found = memory.get_all(**{"user_id": "ada", **scope}, include="all")
    return [item["memory"] for item in found["results"]]


def test_compressing_says_what_it_did_and_the_answer_names_every_message(memory: Memory) -> None:
    fill(memory)
    done = memory.maintenance.merge_duplicates(user_id="ada")
    assert (done["merged"], done["clusters"], done["owners"]) == (3, 1, 1)
    assert done["saved_bytes"] == sum(map(len, TEA)) - len(TEA[2])
    [hit] = memory.search("green tea", user_id="ada")["results"]
    assert (hit["memory"], hit["mentions"], hit["source_ids"]) == (TEA[2], 3, ["m0", "m1", "m2"])
    assert hit["first_said_at"][:10] == "2026-03-01"
    assert memory.maintenance.verify() == []


def test_expanding_brings_the_sources_back_in_their_order_as_they_were_said(memory: Memory) -> None:
    fill(memory)
    before = everything(memory)
    memory.maintenance.merge_duplicates(user_id="ada")
    [one] = memory.get_all(user_id="ada")["results"]
    found = memory.get_sources(one["id"])
    assert [source["memory"] for source in found["sources"]] == list(TEA)
    assert [source["created_at"][:10] for source in found["sources"]] == ["2026-03-01", "2026-03-02", "2026-03-03"]
    assert all(source["merged_into"] == one["id"] for source in found["sources"])
    assert memory.maintenance.split_merged(one["id"])["restored"] == 3
    assert everything(memory) == before
    assert memory.get(one["id"]) is None
    assert memory.maintenance.merge_duplicates(user_id="ada")["merged"] == 0
    assert memory.maintenance.verify() == []


def test_a_memory_that_tells_nothing_but_itself_has_no_sources(memory: Memory) -> None:
    memory.add("I like rain.", user_id="ada", infer=False)
    [one] = memory.get_all(user_id="ada")["results"]
    assert memory.get_sources(one["id"])["sources"] == []
    with pytest.raises(InvalidInputError):
        memory.maintenance.split_merged(one["id"])
    with pytest.raises(MemoryNotFoundError):
        memory.get_sources(one["id"], user_id="bob")


def test_a_source_that_is_changed_or_deleted_by_its_id_tells_for_itself_again(memory: Memory) -> None:
    fill(memory)
    ids = [item["id"] for item in reversed(memory.get_all(user_id="ada")["results"])]
    memory.maintenance.merge_duplicates(user_id="ada")
    memory.update(ids[1], "I love black tea.")
    assert sorted(told(memory)) == sorted([TEA[0], "I love black tea.", TEA[2]])
    fill(memory, run_id="again")
    memory.maintenance.merge_duplicates(user_id="ada")
    memory.delete(ids[0])
    assert memory.get(ids[0]) is None
    assert "I love green tea" in told(memory)
    assert memory.maintenance.verify() == []


def test_a_message_that_is_edited_takes_its_words_out_of_what_is_told(memory: Memory) -> None:
    fill(memory, infer=True, run_id="chat")
    memory.maintenance.merge_duplicates(user_id="ada")
    assert told(memory, run_id="chat").count(TEA[2]) == 1
    memory.add([message("I love black coffee.", 2)], user_id="ada", run_id="chat")
    texts = told(memory)
    assert TEA[2] not in texts
    assert {TEA[0], TEA[1], "I love black coffee."} <= set(texts)
    assert memory.maintenance.verify() == []


def test_a_message_that_is_deleted_leaves_nothing_behind_what_others_said(memory: Memory) -> None:
    fill(memory)
    memory.maintenance.merge_duplicates(user_id="ada")
    assert memory.delete(source_id="m2", user_id="ada")["deleted"] == 1
    assert sorted(told(memory)) == sorted(TEA[:2])


def test_a_repeated_message_stays_known_after_it_was_merged(memory: Memory) -> None:
    fill(memory)
    memory.maintenance.merge_duplicates(user_id="ada")
    fill(memory)
    assert told(memory) == [TEA[2]]


def test_erasing_a_conversation_takes_only_its_own_words(memory: Memory) -> None:
    fill(memory)
    memory.maintenance.merge_duplicates(user_id="ada")
    memory.delete_all(user_id="ada", run_id="day2")
    assert sorted(told(memory)) == sorted(TEA[:2])
    memory.maintenance.merge_duplicates(user_id="ada")
    memory.delete_all(user_id="ada")
    assert memory.export(user_id="ada")["records"] == []
    assert memory.maintenance.verify() == []


def test_deleting_what_was_merged_for_good_takes_its_sources_along(memory: Memory) -> None:
    fill(memory)
    memory.maintenance.merge_duplicates(user_id="ada")
    [one] = memory.get_all(user_id="ada")["results"]
    memory.delete(one["id"])
    assert told(memory) == []
    memory.restore(one["id"])
    assert told(memory) == [TEA[2]]
    memory.delete(one["id"], hard=True)
    assert memory.export(user_id="ada")["records"] == []


def test_what_was_believed_before_the_merge_is_still_told_as_of_then(memory: Memory) -> None:
    fill(memory)
    before = memory.get_all(user_id="ada")["results"][0]["created_at"]
    moment = memory.components.clock.now()
    memory.maintenance.merge_duplicates(user_id="ada")
    assert before < moment.isoformat()
    assert sorted(told(memory, as_of=moment.isoformat())) == sorted(TEA)
    assert len(memory.search("green tea", user_id="ada", as_of=moment)["results"]) >= 1


def test_an_export_brought_back_elsewhere_still_tells_and_expands(memory: Memory, tmp_path: Path) -> None:
    fill(memory)
    memory.maintenance.merge_duplicates(user_id="ada")
    records = memory.export(user_id="ada")["records"]
    with Memory(tmp_path / "other", embedder=FakeEmbedder(64)) as other:
        other.import_(records)
        [one] = other.get_all(user_id="ada")["results"]
        assert [source["memory"] for source in other.get_sources(one["id"])["sources"]] == list(TEA)


def test_a_dry_run_of_everybody_lists_and_changes_nothing(memory: Memory) -> None:
    fill(memory)
    fill(memory, user_id="bob")
    done = memory.maintenance.merge_duplicates(dry_run=True)
    assert (done["merged"], done["owners"], len(done["changes"])) == (6, 2, 6)
    assert len(told(memory)) == 3


COFFEE = ("今天买了咖啡", "我买了一杯咖啡", "又买了咖啡")


def drink(memory: Memory) -> list[str]:
    for number, text in enumerate(COFFEE):
        memory.add([message(text, number)], user_id="ada", infer=False)
    return [item["id"] for item in reversed(memory.get_all(user_id="ada")["results"])]


def test_a_habit_names_its_level_and_brings_back_what_it_was_made_of(memory: Memory) -> None:
    drink(memory)
    done = memory.maintenance.derive_habits(user_id="ada", now="2026-04-01")
    assert (done["abstracted"], done["merged"]) == (1, 3)
    [habit] = memory.get_all(user_id="ada")["results"]
    assert (habit["memory"], habit["abstraction_level"], habit["mentions"]) == ("用户经常买咖啡 (3 次)", 1, 3)
    assert [one["memory"] for one in memory.get_sources(habit["id"])["sources"]] == list(COFFEE)
    assert memory.get_all(user_id="ada", filters={"tags": {"contains": "abstraction_level_1"}})["results"]
    assert memory.search("我平时买什么？", user_id="ada")["results"][0]["id"] == habit["id"]
    assert memory.maintenance.verify() == []


def test_the_level_of_a_habit_can_be_asked_for(memory: Memory) -> None:
    drink(memory)
    assert memory.maintenance.derive_habits(user_id="ada", level=3, dry_run=True)["changes"][0]["action"] == "abstract"
    memory.maintenance.derive_habits(user_id="ada", level=3)
    assert "用户有喝咖啡的习惯 (2026-03 起 3 次)" in told(memory)
    wrong: Any
    for wrong in (0, 4, True, "1"):
        with pytest.raises(InvalidInputError):
            memory.maintenance.derive_habits(user_id="ada", level=wrong)


def test_what_was_made_of_a_memory_goes_when_that_is_deleted_or_reworded_and_is_made_anew(memory: Memory) -> None:
    ids = drink(memory)
    memory.maintenance.derive_habits(user_id="ada", now="2026-04-01")
    memory.delete(ids[0])
    assert sorted(told(memory)) == sorted(COFFEE[1:])
    memory.restore(ids[0])
    memory.maintenance.derive_habits(user_id="ada", now="2026-04-01")
    assert told(memory) == ["用户经常买咖啡 (3 次)"]
    memory.update(ids[0], "今天买了苹果")
    assert sorted(told(memory)) == sorted(["今天买了苹果", *COFFEE[1:]])
    assert memory.maintenance.verify() == []


def test_a_summary_goes_when_what_it_sums_up_is_erased(memory: Memory) -> None:
    for number in range(22):
        text = f"I visited town number {number} and met friend {number}."
        memory.add([message(text, number)], user_id="ada", infer=False)
    assert memory.maintenance.merge_duplicates(user_id="ada")["summarized"] == 1
    [summary] = memory.get_all(user_id="ada", filters={"tags": {"contains": "summary"}})["results"]
    sources = memory.get_sources(summary["id"])["sources"]
    assert len(sources) == 22
    memory.delete(sources[3]["id"], hard=True)
    assert memory.get(summary["id"]) is None


def test_the_whole_round_merges_and_counts_and_then_rests(memory: Memory) -> None:
    drink(memory)
    fill(memory)
    done = memory.maintenance.run(user_id="ada", now="2026-04-01")
    assert done["steps"]["compress"]["merged"] == 3
    assert done["steps"]["abstract"]["abstracted"] == 1
    again = memory.maintenance.run(user_id="ada", now="2026-04-01")
    assert all(not any(again["steps"][name].values()) for name in ("compress", "abstract"))


def test_the_command_line_merges_and_expands(ebbing: Ebbing) -> None:
    for number, text in enumerate(TEA):
        assert (
            ebbing("add", text, "--user", "ada", "--no-extract", "--timestamp", f"2026-03-0{number + 1}T09:00:00Z").code
            == 0
        )
    assert "3 memories would be told by 1" in ebbing("merge-duplicates", "--dry-run").out
    assert ebbing("merge-duplicates", "--user", "ada", "--json").json["merged"] == 3
    [one] = ebbing("list", "--user", "ada", "--json").json["results"]
    shown = ebbing("sources", one["id"]).out
    assert "3 times, 2026-03-01 09:00 UTC to 2026-03-03 09:00 UTC" in shown
    assert shown.index(TEA[0]) < shown.index(TEA[1])
    assert "0 habits would be new" in ebbing("derive-habits", "--dry-run", "--level", "2").out
    assert ebbing("derive-habits", "--user", "ada", "--json").json["abstracted"] == 0
    assert ebbing("sources", one["id"], "--restore", "--json").json["restored"] == 3
    assert len(ebbing("list", "--user", "ada", "--json").json["results"]) == 3


def test_a_fact_that_is_told_again_is_counted_where_it_is_kept(memory: Memory) -> None:
    for number in (3, 0, 3):
        memory.add([message("I love hiking.", number)], user_id="ada")
    [fact] = memory.get_all(user_id="ada")["results"]
    assert (fact["mentions"], fact["first_said_at"][:10]) == (2, "2026-03-01")


def test_a_message_that_is_put_in_other_words_is_not_said_twice(memory: Memory) -> None:
    for text in ("I live in Leeds.", "I live in York."):
        memory.add([message(text, 0)], user_id="ada")
    [fact] = memory.get_all(user_id="ada")["results"]
    assert "York" in fact["memory"]
    assert fact.get("mentions", 1) == 1
