"""The façade as people who know mem0 call it, and as people call it by mistake."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ebbing import Memory
from ebbing.domain.errors import (
    ConfigurationError,
    InvalidInputError,
    MemoryNotFoundError,
    MissingOwnerError,
    TooLargeError,
)
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings

NOW = datetime(2024, 5, 8, 12, tzinfo=UTC)
Item = dict[str, Any]


@pytest.fixture(params=["sqlite", "ephemeral"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    settings = load_settings({"store": request.param, "path": tmp_path / "store"})
    with Memory(components=build(settings, embedder=FakeEmbedder(), clock=ManualClock(NOW))) as opened:
        yield opened


def added(memory: Memory, text: Any, **more: Any) -> str:
    """The id of the one memory that came of it."""
    [result] = memory.add(text, **{"user_id": "ada", "infer": False, **more})["results"]
    return str(result["id"])


def texts(answer: Item) -> list[str]:
    return [item["memory"] for item in answer["results"]]


def everything(memory: Memory, **scope: Any) -> list[str]:
    return sorted(texts(memory.get_all(**{"user_id": "ada", "include": "all", **scope})))


# ── what goes in ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_add_tells_of_a_message_what_its_memory_says(memory: Memory) -> None:
    said = {"content": "I dislike coffee", "name": "Ada", "role": "assistant"}
    [told] = memory.add(said, user_id="ada", tags=["dislike", "drinks"], infer=False)["results"]
    shown = memory.get(told["id"])
    assert shown is not None
    same = ("id", "memory", "actor_id", "role", "type", "tags", "importance", "confidence")
    assert {name: told[name] for name in same} == {name: shown[name] for name in same}
    origin = memory.explain(told["id"])["provenance"]
    assert (told["source_text"], told["rule"]) == (origin["source_text"], origin["rule"])


@pytest.mark.parametrize(
    "messages",
    [
        "I like tea",
        ["I like tea"],
        {"role": "user", "content": "I like tea"},
        [{"role": "user", "content": "I like tea"}],
        ({"content": "  I like tea\n"},),
        [
            {
                "role": "human",
                "content": [{"type": "text", "text": "I like tea"}, {"type": "image_url", "image_url": {}}],
            }
        ],
        ["", {"role": "user", "content": None}, {"role": "assistant", "content": "  "}, "I like tea"],
    ],
)
def test_a_string_a_dict_and_lists_of_these_are_the_same_message(memory: Memory, messages: Any) -> None:
    memory.add(messages, user_id="ada", infer=False)
    assert everything(memory) == ["I like tea"]


@pytest.mark.parametrize(
    "messages",
    [
        *(None, 7, b"bytes", ..., {"a set"}, [None], [7], [b"x"], [["nested"]]),
        *("", " \n\t", "\x00", [], [""], [{}], [{"role": "user", "content": ""}]),
        *({"role": "owner", "content": "x"}, {"role": None, "content": "x"}, {"content": 7}, {"content": ["x"]}),
        *({"content": "x", "id": 1.5}, {"content": "x", "id": ["i"]}, {"content": "x", "name": {}}),
        *({"content": "x", "id": "i" * 257}, {"content": "x", "name": True}),
    ],
    ids=repr,
)
def test_what_is_no_message_is_refused_and_nothing_is_stored(memory: Memory, messages: Any) -> None:
    with pytest.raises(InvalidInputError):
        memory.add(messages, user_id="ada")
    with pytest.raises(InvalidInputError):
        memory.add(messages, user_id="ada", infer=False)
    assert everything(memory) == []


def test_one_bad_message_keeps_the_whole_call_out(memory: Memory) -> None:
    with pytest.raises(InvalidInputError, match="message 1"):
        memory.add(["I like tea", {"role": "owner", "content": "x"}], user_id="ada")
    assert everything(memory) == []


def test_inferring_keeps_the_messages_as_episodes_beside_what_was_learnt(memory: Memory) -> None:
    said = [{"role": "user", "content": "I live in Berlin"}, {"role": "assistant", "content": "A lively place!"}]
    answer = memory.add(said, user_id="ada")
    assert len(answer["episode_ids"]) == 2
    assert texts(memory.get_all(user_id="ada", include="episodes")) == ["A lively place!", "I live in Berlin"]
    kinds = {item["kind"] for item in memory.search("Berlin", user_id="ada")["results"]}
    assert kinds == {"memory", "episode"}
    [known] = memory.search("Berlin", user_id="ada", include="memories")["results"]
    assert known["kind"] == "memory"


def test_small_talk_teaches_nothing_and_is_kept_all_the_same(memory: Memory) -> None:
    answer = memory.add("Hm, is it raining?", user_id="ada")
    assert [item for item in answer["results"] if item["event"] == "ADD"] == []
    assert everything(memory) == ["Hm, is it raining?"]


@pytest.mark.parametrize("infer", [True, False])
@pytest.mark.parametrize(
    "text", ["tea\x00 time", "tea \ud83d time", "👩‍👩‍👧 tea", "tea \ud83d\ude00", "\u202etea", "ﬁne tea", "茶" * 50]
)
def test_hostile_characters_are_kept_or_replaced_and_never_in_the_way(memory: Memory, text: str, infer: bool) -> None:
    memory.add(text, user_id="ada", infer=infer)
    [kept] = [item for item in memory.get_all(user_id="ada", include="all")["results"] if "source" not in item][:1]
    assert "\x00" not in kept["memory"]
    kept["memory"].encode("utf-8")
    assert memory.search(text, user_id="ada")["results"]


def test_a_pair_of_surrogates_is_read_as_the_character_that_it_means(memory: Memory) -> None:
    added(memory, "tea \ud83d\ude00")
    assert everything(memory) == ["tea 😀"]


@pytest.mark.parametrize("infer", [True, False])
def test_a_message_of_a_megabyte_is_refused(memory: Memory, infer: bool) -> None:
    with pytest.raises(TooLargeError, match="100000"):
        memory.add("x" * 2**20, user_id="ada", infer=infer)
    assert everything(memory) == []


@pytest.mark.parametrize("infer", [True, False])
def test_a_long_message_is_kept_in_parts_and_found_by_a_word_of_its_last(memory: Memory, infer: bool) -> None:
    text = " ".join(f"Sentence {number} is about rain." for number in range(600)) + " At last: the saxophone."
    assert len(text) > 16_000
    memory.add({"content": text, "id": "long"}, user_id="ada", infer=infer)
    parts = memory.get_all(user_id="ada", include="episodes" if infer else "memories", limit=100)["results"]
    assert max(len(part["memory"]) for part in parts) <= 4_000
    told = sorted(parts, key=lambda part: int([*part["source_ids"][0].split("#"), "1"][1]))
    assert " ".join(part["memory"] for part in told).split() == text.split()
    best = memory.search("saxophone", user_id="ada", top_k=1)["results"][0]
    assert "saxophone" in best["memory"]
    assert "long" in best["source_ids"]


def test_too_many_messages_at_once_are_refused(memory: Memory) -> None:
    with pytest.raises(TooLargeError, match="10000"):
        memory.add(["x"] * 10_001, user_id="ada")


# ── metadata ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_metadata_comes_back_with_every_record_of_the_call(memory: Memory) -> None:
    metadata = {"chat": "茶", "n": 1, "tags": ["a", None], "deep": {"x": 0.5}}
    memory.add(["I like tea", "I live in Berlin"], user_id="ada", metadata=metadata)
    found = memory.get_all(user_id="ada", include="all")["results"]
    assert len(found) >= 3
    assert all(item["metadata"] == metadata for item in found)


def test_metadata_is_a_copy(memory: Memory) -> None:
    metadata = {"list": [1]}
    memory_id = added(memory, "tea", metadata=metadata)
    metadata["list"].append(2)
    assert memory.get(memory_id)["metadata"] == {"list": [1]}


@pytest.mark.parametrize(
    "metadata",
    ["x", ["x"], {1: "x"}, {"x": object()}, {"x": float("nan")}, {"x": float("inf")}, {"x": "\ud800"}, {"x": b"x"}],
)
def test_metadata_that_is_no_json_is_refused(memory: Memory, metadata: Any) -> None:
    with pytest.raises(InvalidInputError, match="metadata"):
        memory.add("tea", user_id="ada", metadata=metadata)


def test_metadata_of_64_kib_is_the_most(memory: Memory) -> None:
    assert added(memory, "tea", metadata={"x": "y" * 65_000})
    with pytest.raises(TooLargeError, match="metadata"):
        memory.add("tea", user_id="ada", metadata={"x": "y" * 65_536})


def test_metadata_that_holds_itself_is_refused(memory: Memory) -> None:
    endless: Item = {}
    endless["x"] = endless
    with pytest.raises(InvalidInputError, match="metadata"):
        memory.add("tea", user_id="ada", metadata=endless)


def test_metadata_nested_too_deep_is_refused(memory: Memory) -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidInputError, match="metadata"):
        memory.add("tea", user_id="ada", metadata={"x": deep})


# ── ids and times of messages ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("infer", [True, False])
def test_a_message_that_is_added_again_changes_nothing(memory: Memory, infer: bool) -> None:
    said = [
        {"role": "user", "content": "I live in Berlin", "id": "m1"},
        {"role": "user", "content": "I like tea", "id": 2},
    ]
    memory.add(said, user_id="ada", infer=infer)
    before = memory.get_all(user_id="ada", include="all")
    again = memory.add(said, user_id="ada", infer=infer)
    assert {item["event"] for item in again["results"]} == {"NONE"}
    assert memory.get_all(user_id="ada", include="all") == before


def test_the_same_message_id_in_another_run_is_another_message(memory: Memory) -> None:
    for run in ("monday", "tuesday"):
        memory.add({"content": "I like tea", "id": "m1"}, user_id="ada", run_id=run, infer=False)
    assert everything(memory) == ["I like tea"] * 2


def test_an_edited_message_takes_the_place_of_its_earlier_wording(memory: Memory) -> None:
    for city in ("Berlin", "Hamburg"):
        memory.add({"content": f"I live in {city}", "id": "m1"}, user_id="ada")
    assert not [text for text in everything(memory) if "Berlin" in text]


@pytest.mark.parametrize(
    "given",
    [
        "2023-05-08T13:56:00Z",
        "2023-05-08T13:56:00+00:00",
        "2023-05-08 13:56",
        "2023-05-08T21:56:00+08:00",
        " 2023-05-08T13:56:00Z ",
        1683554160,
        1683554160.0,
        1683554160000,
        datetime(2023, 5, 8, 13, 56),  # noqa: DTZ001
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
    ],
    ids=repr,
)
def test_times_are_iso_text_epoch_numbers_or_datetimes_and_naive_ones_are_utc(memory: Memory, given: Any) -> None:
    memory_id = added(memory, {"content": "tea", "timestamp": given})
    assert memory.get(memory_id)["created_at"] == "2023-05-08T13:56:00+00:00"


@pytest.mark.parametrize(
    "given",
    ["yesterday", "", "2023-13-01", True, float("nan"), float("inf"), 10**400, -(10**400), [], {}, "1683554160"],
    ids=repr,
)
def test_a_time_that_cannot_be_read_is_refused(memory: Memory, given: Any) -> None:
    with pytest.raises(InvalidInputError, match="timestamp of message 0"):
        memory.add({"content": "tea", "timestamp": given}, user_id="ada")
    with pytest.raises(InvalidInputError, match="reference_date"):
        memory.search("tea", user_id="ada", reference_date=given)


@pytest.mark.parametrize("infer", [True, False])
@pytest.mark.parametrize("given", ["1001-01-01T00:00:00Z", "2999-12-31T23:59:59Z"])
def test_times_far_away_are_kept(memory: Memory, given: Any, infer: bool) -> None:
    said = {"content": "I moved to Berlin last week", "timestamp": given}
    memory.add(said, user_id="ada", run_id="r", infer=infer)
    for question in ("When did I move?", "Where did I move last year?"):
        found = memory.search(question, user_id="ada", reference_date=given, context_turns=1)["results"]
        assert {item["created_at"][:10] for item in found} == {given[:10]}


@pytest.mark.parametrize("given", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", -62135596800, 1683554160 * 10**6])
def test_times_that_no_calendar_of_ours_knows_are_refused(memory: Memory, given: Any) -> None:
    with pytest.raises(InvalidInputError, match="timestamp of message 0"):
        memory.add({"content": "I moved last week", "timestamp": given}, user_id="ada")
    for label in ("reference_date", "as_of"):
        with pytest.raises(InvalidInputError, match=label):
            memory.search("When did I move?", user_id="ada", **{label: given})


# ── whose it is ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "scope", [{"user_id": "ada"}, {"filters": {"user_id": "ada"}}, {"user_id": "ada", "filters": {"user_id": "ada"}}]
)
def test_an_owner_is_named_by_an_argument_or_by_filters(memory: Memory, scope: Item) -> None:
    memory.add("I like tea", infer=False, **scope)
    memory.add("I like rain", infer=False, user_id="bob")
    assert texts(memory.search("like", **scope)) == ["I like tea"]
    assert texts(memory.get_all(**scope)) == ["I like tea"]
    memory.delete_all(**scope)
    assert everything(memory) == []
    assert everything(memory, user_id="bob") == ["I like rain"]


def test_names_are_trimmed_wherever_they_are_given(memory: Memory) -> None:
    memory_id = added(memory, "I like tea", user_id=" ada ")
    assert everything(memory, user_id="ada") == ["I like tea"]
    assert texts(memory.get_all(filters={"user_id": " ada "})) == ["I like tea"]
    assert texts(memory.get_all(user_id="ada ", filters={"user_id": " ada"})) == ["I like tea"]
    assert memory.get(memory_id, user_id=" ada ") is not None


@pytest.mark.parametrize(
    "scope", [{}, {"user_id": ""}, {"user_id": "  "}, {"filters": {}}, {"filters": {"type": "fact"}}, {"agent_id": ""}]
)
def test_nobodys_memory_is_an_error_and_never_everybodys(memory: Memory, scope: Item) -> None:
    calls = [
        lambda: memory.add("tea", **scope),
        lambda: memory.search("tea", **scope),
        lambda: memory.get_all(**scope),
        lambda: memory.delete_all(**scope),
        lambda: memory.export(**scope),
        lambda: memory.get_context("tea", **scope),
    ]
    for call in calls:
        with pytest.raises(InvalidInputError):
            call()


@pytest.mark.parametrize("name", [7, b"ada", ["ada"], "a" * 257, "a\x00b", "a\nb", "\ud800"], ids=repr)
def test_a_name_that_is_none_is_refused(memory: Memory, name: Any) -> None:
    for call in (memory.get_all, memory.delete_all):
        with pytest.raises(InvalidInputError, match="user_id"):
            call(user_id=name)
    with pytest.raises(InvalidInputError, match="user_id"):
        memory.add("tea", user_id=name)


def test_two_owners_in_one_call_are_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInputError, match="user_id"):
        memory.search("tea", user_id="ada", filters={"user_id": "bob"})


def test_users_agents_and_runs_are_kept_apart(memory: Memory) -> None:
    owners: list[Item] = [
        {"user_id": "ada"},
        {"user_id": "bob"},
        {"agent_id": "ada"},
        {"run_id": "ada"},
        {"user_id": "ada ü"},
    ]
    for number, owner in enumerate(owners):
        memory.add(f"I like tea {number}", infer=False, **owner)
    for number, owner in enumerate(owners):
        assert texts(memory.search("tea", **owner)) == [f"I like tea {number}"]
        assert texts(memory.get_all(**owner)) == [f"I like tea {number}"]


def test_an_agent_and_a_run_narrow_what_a_user_sees(memory: Memory) -> None:
    for agent, run in ((None, None), ("guide", None), ("guide", "monday"), ("cook", "monday")):
        memory.add(f"tea {agent} {run}", user_id="ada", agent_id=agent, run_id=run, infer=False)
    seen = {
        (None, None): 4,
        ("guide", None): 2,
        (None, "monday"): 2,
        ("guide", "monday"): 1,
        ("cook", None): 1,
        ("cook", "tuesday"): 0,
    }
    for (agent, run), count in seen.items():
        assert len(memory.search("tea", user_id="ada", agent_id=agent, run_id=run)["results"]) == count
        assert len(memory.get_all(user_id="ada", agent_id=agent, run_id=run)["results"]) == count
        by_filter = {name: value for name, value in (("agent_id", agent), ("run_id", run)) if value}
        assert len(memory.search("tea", user_id="ada", filters=by_filter)["results"]) == count
    memory.delete_all(user_id="ada", run_id="monday")
    assert everything(memory) == ["tea None None", "tea guide None"]


def test_somebody_elses_memory_is_not_found_by_its_id(memory: Memory) -> None:
    memory_id = added(memory, "I like tea")
    assert memory.get(memory_id, user_id="bob") is None
    assert memory.history(memory_id, user_id="bob") == []
    for call in (
        lambda: memory.update(memory_id, "I like rain", user_id="bob"),
        lambda: memory.delete(memory_id, user_id="bob"),
        lambda: memory.delete(memory_id, user_id="bob", hard=True),
        lambda: memory.restore(memory_id, user_id="bob"),
        lambda: memory.explain(memory_id, user_id="bob"),
    ):
        with pytest.raises(MemoryNotFoundError):
            call()
    assert everything(memory) == ["I like tea"]


def test_tenants_of_one_store_never_meet(tmp_path: Path) -> None:
    def opened(tenant: str) -> Memory:
        settings = load_settings({"path": tmp_path, "tenant": tenant, "embedder": "none"})
        return Memory(components=build(settings, clock=ManualClock(NOW)))

    with opened("red") as red, opened("blue") as blue:
        memory_id = added(red, "I like tea")
        added(blue, "I like rain")
        assert texts(blue.search("like", user_id="ada")) == ["I like rain"]
        assert blue.get(memory_id) is None
        with pytest.raises(MemoryNotFoundError):
            blue.delete(memory_id)
        blue.reset()
        assert everything(red) == ["I like tea"]
        assert everything(blue) == []


# ── one memory by its id ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_memory_is_read_changed_deleted_restored_and_its_history_tells(memory: Memory) -> None:
    memory_id = added(memory, "I like tea", metadata={"a": 1})
    assert memory.update(memory_id, "I like coffee")["memory"] == "I like coffee"
    assert memory.get(memory_id)["metadata"] == {"a": 1}
    assert memory.update(memory_id, metadata={"b": 2})["memory"] == "I like coffee"
    memory.delete(memory_id, reason="no longer")
    assert memory.get(memory_id) is None
    assert memory.search("coffee", user_id="ada")["results"] == []
    told = memory.explain(memory_id)
    assert (told["delete_reason"], told["memory"]) == ("no longer", "I like coffee")
    assert memory.restore(memory_id)["memory"] == "I like coffee"
    assert texts(memory.search("coffee", user_id="ada")) == ["I like coffee"]
    changes = [(entry["event"], entry["old_memory"], entry["new_memory"]) for entry in memory.history(memory_id)]
    assert changes[:2] == [("ADD", None, "I like tea"), ("UPDATE", "I like tea", "I like coffee")]
    assert [event for event, _, _ in changes] == ["ADD", "UPDATE", "UPDATE", "DELETE", "RESTORE"]


def test_the_shapes_are_those_that_users_of_mem0_know(memory: Memory) -> None:
    answer = memory.add("I live in Berlin", user_id="ada", agent_id="guide", run_id="monday")
    [result] = answer["results"]
    assert {"id", "memory", "event"} <= result.keys()
    assert result["event"] == "ADD"
    item = memory.get(result["id"])
    assert {
        "id",
        "memory",
        "hash",
        "metadata",
        "created_at",
        "updated_at",
        "user_id",
        "agent_id",
        "run_id",
    } <= item.keys()
    [found, *_] = memory.search("Berlin", user_id="ada")["results"]
    assert {"id", "memory", "score", "kind", "source_ids", "created_at"} <= found.keys()
    deleted = memory.delete(result["id"])
    assert deleted == {"message": "Memory deleted successfully!", "change_id": deleted["change_id"]}
    entry = memory.history(result["id"])[0]
    assert {
        "id",
        "memory_id",
        "old_memory",
        "new_memory",
        "event",
        "created_at",
        "updated_at",
        "is_deleted",
    } <= entry.keys()
    assert memory.delete_all(user_id="ada")["message"] == "Memories deleted successfully!"


def test_version_1_0_answers_with_bare_lists() -> None:
    with Memory.from_config({"version": "v1.0", "store": "ephemeral", "embedder": "none"}) as memory:
        [result] = memory.add("I like tea", user_id="ada", infer=False)
        assert [item["id"] for item in memory.search("tea", user_id="ada")] == [result["id"]]
        assert [item["id"] for item in memory.get_all(user_id="ada")] == [result["id"]]


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="colour"):
        Memory.from_config({"colour": "red"})


@pytest.mark.parametrize(
    "unknown", ["no-such-id", "00000000-0000-0000-0000-000000000000", "'; DROP TABLE memory", "茶", "x\x00y", "\ud800"]
)
def test_an_unknown_id_is_nothing_or_not_found(memory: Memory, unknown: str) -> None:
    assert memory.get(unknown) is None
    assert memory.history(unknown) == []
    for call in (
        lambda: memory.update(unknown, "x"),
        lambda: memory.delete(unknown),
        lambda: memory.delete(unknown, hard=True),
        lambda: memory.restore(unknown),
        lambda: memory.explain(unknown),
        lambda: memory.feedback(unknown, "used"),
    ):
        with pytest.raises(MemoryNotFoundError):
            call()


@pytest.mark.parametrize("reason", [7, ["x"], b"x"], ids=repr)
def test_a_reason_that_is_no_text_is_refused(memory: Memory, reason: Any) -> None:
    memory_id = added(memory, "I like tea")
    with pytest.raises(InvalidInputError, match="reason"):
        memory.delete(memory_id, reason=reason)
    with pytest.raises(TooLargeError, match="reason"):
        memory.delete(memory_id, reason="x" * 1_001)
    memory.delete(memory_id, reason="\ud800 no\x00 longer")
    assert memory.explain(memory_id)["delete_reason"] == "\ufffd no longer"


@pytest.mark.parametrize("source_id", ["", " ", 1.5, ["m1"], "m" * 257], ids=repr)
def test_a_source_that_is_no_id_is_refused(memory: Memory, source_id: Any) -> None:
    with pytest.raises(InvalidInputError, match="source_id"):
        memory.delete(source_id=source_id, user_id="ada")


def test_a_message_is_taken_back_with_what_rests_on_it(memory: Memory) -> None:
    memory.add({"content": "I live in Berlin", "id": "m1"}, user_id="ada")
    assert memory.delete(source_id="m1", user_id="bob")["deleted"] == 0
    assert memory.delete(source_id="m1", user_id="ada")["deleted"] == 2
    assert everything(memory) == []


@pytest.mark.parametrize("flag", ["no", 0, None, "false"], ids=repr)
def test_what_merely_counts_as_a_truth_value_decides_nothing(memory: Memory, flag: Any) -> None:
    memory_id = added(memory, "I like tea")
    with pytest.raises(InvalidInputError, match="hard"):
        memory.delete(memory_id, hard=flag)
    with pytest.raises(InvalidInputError, match="infer"):
        memory.add("I like rain", user_id="ada", infer=flag)
    assert everything(memory) == ["I like tea"]


@pytest.mark.parametrize("memory_id", [None, 7, "", " ", b"x", ["x"]], ids=repr)
def test_what_is_no_id_is_refused(memory: Memory, memory_id: Any) -> None:
    for call in (
        lambda: memory.get(memory_id),
        lambda: memory.update(memory_id, "x"),
        lambda: memory.delete(memory_id),
        lambda: memory.restore(memory_id),
        lambda: memory.history(memory_id),
    ):
        with pytest.raises(InvalidInputError, match="memory_id"):
            call()


def test_a_memory_that_is_gone_for_good_leaves_nothing_behind(memory: Memory) -> None:
    memory_id = added(memory, "I like tea")
    memory.delete(memory_id, hard=True)
    assert (memory.get(memory_id), memory.history(memory_id), everything(memory)) == (None, [], [])
    with pytest.raises(MemoryNotFoundError):
        memory.restore(memory_id)


def test_a_deleted_memory_cannot_be_deleted_or_changed_and_a_living_one_not_restored(memory: Memory) -> None:
    memory_id = added(memory, "I like tea")
    with pytest.raises(InvalidInputError, match="neither deleted, faded nor closed"):
        memory.restore(memory_id)
    memory.delete(memory_id)
    for call in (lambda: memory.delete(memory_id), lambda: memory.update(memory_id, "x")):
        with pytest.raises(MemoryNotFoundError):
            call()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({}, InvalidInputError),
        ({"text": ""}, InvalidInputError),
        ({"text": " \x00"}, InvalidInputError),
        ({"text": 7}, InvalidInputError),
        ({"text": "x" * 4_001}, TooLargeError),
        ({"metadata": "x"}, InvalidInputError),
        ({"metadata": {"x": "y" * 65_536}}, TooLargeError),
    ],
)
def test_an_unusable_change_is_refused_and_changes_nothing(
    memory: Memory, change: Item, error: type[Exception]
) -> None:
    memory_id = added(memory, "I like tea", metadata={"a": 1})
    with pytest.raises(error):
        memory.update(memory_id, **change)
    assert (memory.get(memory_id)["memory"], memory.get(memory_id)["metadata"]) == ("I like tea", {"a": 1})
    assert len(memory.history(memory_id)) == 1


def test_a_change_to_the_same_text_is_no_change(memory: Memory) -> None:
    memory_id = added(memory, "I like tea")
    assert memory.update(memory_id, "I like tea")["memory"] == "I like tea"
    assert [entry["event"] for entry in memory.history(memory_id)] == ["ADD"]


def test_a_memory_that_was_reworded_no_longer_answers_for_its_old_value(memory: Memory) -> None:
    [known] = memory.add("I live in Berlin", user_id="ada")["results"]
    memory.update(known["id"], "User collects stamps")
    memory.add("I moved to Hamburg", user_id="ada")
    assert "User collects stamps" in texts(memory.search("stamps", user_id="ada", include="memories"))


def test_a_memory_that_was_put_right_by_hand_answers_for_its_new_value(memory: Memory) -> None:
    [known] = memory.add("I live in Berlin", user_id="ada")["results"]
    memory.update(known["id"], "User lives in Bremen")
    assert memory.get(known["id"])["value"] == "Bremen"
    memory.add("I moved to Hamburg", user_id="ada")
    now = texts(memory.search("Where does the user live?", user_id="ada", include="memories"))
    assert "User lives in Bremen" not in now


def test_a_taste_that_is_reworded_stays_a_taste_of_the_same_thing(memory: Memory) -> None:
    [known] = memory.add("I love green tea", user_id="ada")["results"]
    memory.update(known["id"], "User loves green tea very much")
    memory.add("I hate green tea", user_id="ada")
    now = texts(memory.search("green tea", user_id="ada", include="memories"))
    assert "User loves green tea very much" not in now


def test_secrets_in_a_new_wording_are_redacted_as_in_a_message(memory: Memory) -> None:
    memory_id = added(memory, "Write to ada@example.org")
    assert "ada@example.org" not in memory.get(memory_id)["memory"]
    memory.update(memory_id, "Better write to ada@example.org now")
    assert "ada@example.org" not in memory.get(memory_id)["memory"]


def test_a_message_that_was_edited_by_hand_stays_a_turn_of_its_conversation(memory: Memory) -> None:
    said = [{"content": text, "timestamp": NOW.timestamp() + at} for at, text in enumerate(("tea", "rain", "snow"))]
    rain = memory.add(said, user_id="ada", run_id="r", infer=False)["results"][1]["id"]
    for wording in ("sun", "hail"):
        memory.update(rain, wording)
        [best, *_] = memory.search("snow", user_id="ada", context_turns=2)["results"]
        assert [turn["memory"] for turn in best["context"]] == ["tea", wording, "snow"]


def test_a_reset_erases_what_everybody_said(memory: Memory) -> None:
    added(memory, "I like tea")
    added(memory, "I like rain", user_id="bob")
    memory.search("tea", user_id="ada")
    assert "message" in memory.reset()
    for user in ("ada", "bob"):
        assert everything(memory, user_id=user) == []
        assert memory.search("tea rain", user_id=user)["results"] == []
    added(memory, "I like snow")
    assert everything(memory) == ["I like snow"]


def test_deleting_all_of_a_user_says_how_much_went(memory: Memory) -> None:
    memory.add(["I live in Berlin", "Is it raining?"], user_id="ada")
    gone = memory.delete_all(user_id="ada")["deleted"]
    assert gone["episodes"] == 2
    assert gone["memories"] >= 1
    assert memory.delete_all(user_id="ada")["deleted"]["episodes"] == 0


# ── questions and pages ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("query", ["", "  ", "\x00", None, 7, b"tea", ["tea"]], ids=repr)
def test_a_blank_question_is_refused(memory: Memory, query: Any) -> None:
    with pytest.raises(InvalidInputError, match="query"):
        memory.search(query, user_id="ada")


@pytest.mark.parametrize(
    "query", ["?", "!!!", "的", "\ud83d tea", "tea\x00", "x" * 1_000_000, "👩‍👩‍👧", "I", "\u200b."]
)
def test_any_other_question_gets_an_answer(memory: Memory, query: str) -> None:
    added(memory, "I like tea")
    assert len(memory.search(query, user_id="ada")["results"]) == 1


@pytest.mark.parametrize(
    "narrowing",
    [
        {"top_k": 0},
        {"top_k": -1},
        {"top_k": "5"},
        {"top_k": 2.5},
        {"top_k": True},
        {"limit": 0},
        {"top_k": 3, "limit": 4},
        {"threshold": -0.1},
        {"threshold": 1.1},
        {"threshold": "0.5"},
        {"threshold": float("nan")},
        {"include": "everything"},
        {"include": "facts"},
        {"context_turns": -1},
        {"context_turns": 11},
        {"context_turns": 1.0},
        {"filters": ["x"]},
        {"filters": "user"},
        {"as_of": "then"},
        {"precise": "no"},
        {"explain": "no"},
    ],
    ids=repr,
)
def test_an_unusable_narrowing_is_refused(memory: Memory, narrowing: Item) -> None:
    with pytest.raises(InvalidInputError):
        memory.search("tea", user_id="ada", **narrowing)


def test_an_argument_that_does_not_exist_is_refused_as_python_does(memory: Memory) -> None:
    with pytest.raises(TypeError, match="colour"):
        memory.search("tea", user_id="ada", colour="red")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="colour"):
        memory.add("tea", user_id="ada", colour="red")  # type: ignore[call-arg]


def test_limit_is_another_name_for_top_k_and_50_is_the_most(memory: Memory) -> None:
    memory.add([f"tea number {number}" for number in range(60)], user_id="ada", infer=False)
    assert [
        len(memory.search("tea", user_id="ada", **more)["results"]) for more in ({}, {"limit": 7}, {"top_k": 7})
    ] == [5, 7, 7]
    assert len(memory.search("tea", user_id="ada", top_k=1_000)["results"]) == 50


def test_pages_hold_everything_once(memory: Memory) -> None:
    memory.add([f"tea number {number}" for number in range(25)], user_id="ada", infer=False)
    seen: list[str] = []
    cursor = None
    while True:
        page = memory.get_all(user_id="ada", limit=10, cursor=cursor)
        seen += texts(page)
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert sorted(seen) == sorted(f"tea number {number}" for number in range(25))


@pytest.mark.parametrize(
    "cursor", ["x", "", "MQ==", 7, b"x", "\ud800", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5LjE="], ids=repr
)
def test_a_foreign_cursor_is_refused(memory: Memory, cursor: Any) -> None:
    for call in (memory.get_all, memory.export):
        with pytest.raises(InvalidInputError, match="cursor"):
            call(user_id="ada", cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 1_001, "10", 1.0, True, None], ids=repr)
def test_a_page_of_an_impossible_size_is_refused(memory: Memory, limit: Any) -> None:
    with pytest.raises(InvalidInputError, match="limit"):
        memory.get_all(user_id="ada", limit=limit)


def test_what_was_superseded_is_out_of_the_current_view_and_in_that_of_its_time(memory: Memory) -> None:
    clock = memory.components.clock
    assert isinstance(clock, ManualClock)
    memory.add("I live in Berlin", user_id="ada")
    clock.set(NOW.replace(month=6))
    then = clock.now()
    clock.set(NOW.replace(month=7))
    memory.add("I moved to Hamburg, I live in Hamburg now", user_id="ada")
    now = " ".join(texts(memory.search("Where do I live?", user_id="ada", include="memories")))
    past = " ".join(texts(memory.search("Where do I live?", user_id="ada", include="memories", as_of=then)))
    assert ("Berlin" in now, "Hamburg" in now) == (False, True)
    assert ("Berlin" in past, "Hamburg" in past) == (True, False)


def test_a_list_shows_what_holds_and_on_demand_what_is_over(memory: Memory) -> None:
    clock = memory.components.clock
    assert isinstance(clock, ManualClock)
    memory.add("I live in Berlin", user_id="ada")
    clock.set(NOW.replace(month=7))
    memory.add("I moved to Hamburg, I live in Hamburg now", user_id="ada")
    soon = memory.add("The oven is hot", user_id="ada", infer=False, expires_at=NOW.replace(month=8))
    for filters in (None, {"id": "*"}):
        listed = texts(memory.get_all(user_id="ada", filters=filters))
        assert not [text for text in listed if "Berlin" in text]
        everything = memory.get_all(user_id="ada", filters=filters, superseded=True)["results"]
        assert [item["memory"] for item in everything if "valid_to" in item and "Berlin" in item["memory"]]
    clock.set(NOW.replace(month=9))
    assert "The oven is hot" not in texts(memory.get_all(user_id="ada"))
    over = memory.get_all(user_id="ada", filters={"expires_at": {"lt": NOW.replace(month=9)}})["results"]
    assert [item["id"] for item in over] == [soon["results"][0]["id"]]
    with pytest.raises(InvalidInputError):
        memory.get_all(user_id="ada", superseded="yes")
    with pytest.raises(TypeError):
        memory.get_all(user_id="ada", all=True)


def test_errors_hold_no_word_of_what_was_said(memory: Memory) -> None:
    secret = "saxophone"
    for call in (
        lambda: memory.add({"role": secret, "content": secret}, user_id="ada"),
        lambda: memory.add({"content": secret, "timestamp": secret}, user_id="ada"),
        lambda: memory.add(secret, user_id="ada\x00" + secret),
        lambda: memory.add(secret, user_id="ada", metadata={secret: object()}),
        lambda: memory.search(secret, user_id="ada", reference_date=secret),
        lambda: memory.get_all(user_id="ada", cursor=secret),
        lambda: memory.update(secret, secret),
    ):
        with pytest.raises((InvalidInputError, MemoryNotFoundError)) as caught:
            call()
        assert secret not in str(caught.value)


def test_a_missing_owner_is_told_what_to_give(memory: Memory) -> None:
    with pytest.raises(MissingOwnerError, match="user_id"):
        memory.add("tea")
