"""In a running talk, what a rule reads stands in the words of the person: nothing is retold, and nothing is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ebbing.domain.errors import EmbeddingError
from ebbing.language.text.quotation import undated
from ebbing.memory import AsyncMemory
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.testing.models.salience import FakeSalience
from ebbing.wiring.build import Components, build, load_settings
from ebbing.wiring.components.models import reader_slot

WORTH_IT = {"I": "fact", "我": "fact"}
"""Words that make the model find any of the messages below worth it."""


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


TALK = [user("hello"), assistant("Hi!"), user("how was it"), assistant("Fine."), user("good"), assistant("Yes.")]


class FailingEmbedder(FakeEmbedder):
    """Fails once it is told to."""

    is_broken = False

    async def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.is_broken:
            raise EmbeddingError("out of order")
        return await super().embed_passages(texts)


def components(kinds: dict[str, str], embedder: FakeEmbedder | None = None) -> Components:
    built = build(load_settings({"store": "ephemeral"}), embedder=embedder or FakeEmbedder())
    return replace(built, reader=reader_slot(built.settings, built.embedder, salience=FakeSalience(kinds)))


async def memories(
    *calls: list[dict[str, Any]] | str, kinds: dict[str, str] = WORTH_IT, before: Sequence[str] = (), **ids: str
) -> list[tuple[str, str | None]]:
    """Return the texts of the current memories with their attributes, after a talk and these calls."""
    owner = {"user_id": "ann", **ids}
    async with AsyncMemory(components=components(kinds)) as memory:
        for text in before:
            await memory.add([user(text)], **owner)
        await memory.add(TALK, **owner)
        for call in calls:
            await memory.add([user(call)] if isinstance(call, str) else call, **owner)
        items = (await memory.get_all(limit=100, **owner))["results"]
        return [(undated(item["memory"]), item.get("attribute")) for item in reversed(items)]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("text", "memory", "attribute"),
    [
        ("I live in Berlin, near the canal.", "User said: “I live in Berlin, near the canal.”", "home"),
        ("我住在北京，靠近鼓楼。", "用户说：“我住在北京，靠近鼓楼。”", "home"),
        ("Do you know it? I live in Berlin.", "User said: “I live in Berlin.”", "home"),
    ],
)
async def test_a_fact_keeps_its_attribute_and_the_words_of_the_person(text: str, memory: str, attribute: str) -> None:
    assert (memory, attribute) in await memories(text)


@pytest.mark.anyio
async def test_a_message_that_comes_by_itself_is_retold() -> None:
    async with AsyncMemory(components=components(WORTH_IT)) as memory:
        [result] = (await memory.add("I live in Berlin.", user_id="ann"))["results"]
        assert result["memory"] == "User lives in Berlin"


@pytest.mark.anyio
async def test_what_changed_takes_the_place_of_the_quotation() -> None:
    assert await memories("I live in Berlin.", "I moved to Munich.") == [("User said: “I moved to Munich.”", "home")]
    assert await memories("我住在北京。", "我搬到上海了。") == [("用户说：“我搬到上海了。”", "home")]


@pytest.mark.anyio
async def test_a_message_with_several_facts_loses_none_of_them() -> None:
    current = dict(await memories("I moved to Munich last month. I am allergic to nuts. I work at Bosch."))
    assert sorted(filter(None, current.values())) == ["allergic to nut", "employer", "home"]
    assert [text for text in current if "“" in text], "each stands in its own clause"
    one_clause = await memories("My name is Max, I live in Berlin and I work at Bosch.")
    assert {attribute for _, attribute in one_clause} == {"name", "home", "employer"}


@pytest.mark.anyio
async def test_of_two_facts_in_quotations_the_right_one_ends() -> None:
    current = await memories("我对花生过敏。我对青霉素过敏。", "我对青霉素不过敏了。")
    assert [text for text, _ in current] == ["用户说：“我对花生过敏”", "用户对青霉素不过敏了"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("first", "corrected", "left"),
    [
        ("I live in Berlin.", "Actually, sorry, I live in Hamburg.", "Hamburg"),
        ("我住在北京。", "不对，我住在上海。", "上海"),
    ],
)
async def test_a_correction_in_the_same_call_counts(first: str, corrected: str, left: str) -> None:
    [(text, attribute)] = await memories([user(first), assistant("ok"), user(corrected)])
    assert left in text
    assert attribute == "home"


@pytest.mark.anyio
async def test_what_the_assistant_says_of_itself_is_not_the_users() -> None:
    current = await memories([assistant("My name is Nova.")], "My name is Max.", agent_id="guide")
    assert current == [("Assistant's name is Nova", "name"), ("User said: “My name is Max.”", "name")]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("text", "is_memory"),
    [
        ("I work at Bosch.", False),
        ("I am allergic to nuts.", True),
        ("I like jazz.", True),
    ],
)
async def test_what_the_model_finds_worthless_is_kept_only_where_it_counts(text: str, is_memory: bool) -> None:
    assert bool(await memories(text, kinds={"nothing": "fact"})) is is_memory


@pytest.mark.anyio
async def test_news_of_what_is_known_counts_whatever_it_is_worth() -> None:
    current = await memories("I eat meat again.", kinds={"nothing": "fact"}, before=["I am vegan."])
    assert current == [("User said: “I eat meat again.”", "diet")]


@pytest.mark.anyio
async def test_without_vectors_the_facts_are_kept_and_wait_for_theirs() -> None:
    embedder = FailingEmbedder()
    async with AsyncMemory(components=components(WORTH_IT, embedder)) as memory:
        await memory.add(TALK, user_id="ann")
        embedder.is_broken = True
        answer = await memory.add([user("I live in Berlin.")], user_id="ann")
        assert [undated(result["memory"]) for result in answer["results"]] == ["User said: “I live in Berlin.”"]
        assert answer["vectors_pending"] == 2


@pytest.mark.anyio
async def test_results_come_in_the_order_of_the_messages() -> None:
    texts = ["I live in Berlin.", "Please always answer in French.", "I am allergic to nuts.", "I work at Bosch."]
    async with AsyncMemory(components=components(WORTH_IT)) as memory:
        await memory.add(TALK, user_id="ann")
        answer = await memory.add([user(text) for text in texts], user_id="ann")
        results = " ".join(result["memory"] for result in answer["results"])
        places = [results.index(word) for word in ("Berlin", "French", "nuts", "Bosch")]
        assert places == sorted(places)


@pytest.mark.anyio
async def test_a_name_with_quotation_marks_breaks_nothing() -> None:
    calls = [[user(text, name="“Bob”")] for text in ("I live in Berlin.", "I moved to Munich.")]
    assert await memories(*calls) == [("‘Bob’ said: “I moved to Munich.”", "home")]


@pytest.mark.anyio
async def test_a_profile_reads_like_a_profile() -> None:
    async with AsyncMemory(components=components(WORTH_IT)) as memory:
        await memory.add(TALK, user_id="ann")
        for text in ("I live in Berlin.", "I love jazz.", "I am allergic to nuts."):
            await memory.add([user(text)], user_id="ann")
        summary = str((await memory.profiles.get(user_id="ann"))["summary"])
        assert summary == "user: “I am allergic to nuts”; user: “I love jazz”; user: “I live in Berlin”"


@pytest.mark.anyio
async def test_a_profile_of_several_people_says_who_said_it() -> None:
    async with AsyncMemory(components=components(WORTH_IT)) as memory:
        await memory.add(
            [*TALK, user("I live in Berlin.", name="Ann"), user("I live in Rome.", name="Bob")], user_id="g"
        )
        summary = str((await memory.profiles.get(user_id="g"))["summary"])
        assert "user “Ann”: “I live in Berlin”" in summary
        assert "user “Bob”: “I live in Rome”" in summary


@pytest.mark.anyio
async def test_what_is_taken_out_of_a_message_is_gone_from_its_quotation() -> None:
    calls = [[user(text, id="m1")] for text in ("我住在北京，隔壁老王欠我三万块钱。", "我住在北京。")]
    assert await memories(*calls) == [("用户说：“我住在北京。”", "home")]


@pytest.mark.anyio
async def test_a_quotation_that_is_reworded_by_hand_keeps_its_attribute() -> None:
    async with AsyncMemory(components=components(WORTH_IT)) as memory:
        await memory.add(TALK, user_id="ann")
        [added] = (await memory.add([user("I live in Berlin.")], user_id="ann"))["results"]
        await memory.update(added["id"], "User said: “I live in Hamburg.”", user_id="ann")
        item = await memory.get(added["id"], user_id="ann")
        assert (item["attribute"], item["value"]) == ("home", "Hamburg")
        await memory.add([user("I moved to Munich last month.")], user_id="ann")
        [left] = (await memory.get_all(user_id="ann"))["results"]
        assert "Munich" in left["memory"]


async def alone(text: str, *, kinds: dict[str, str]) -> list[str]:
    """Return the current memories of a person who sends one message by itself."""
    async with AsyncMemory(components=components(kinds)) as memory:
        await memory.add([user(text)], user_id="ann")
        return [item["memory"] for item in (await memory.get_all(user_id="ann"))["results"]]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("昨天看的那部剧 女主是个医生 养了条狗", []),
        ("have a dog", []),
        ("I have a dog, what food should I buy?", ["User has a dog"]),
        ("got divorced", ["User got divorced"]),
        ("diabetic", ["User is diabetic"]),
        ("my hamster died today", ["User's hamster died today"]),
        ("I am pregnant, can I eat sushi?", ["User is pregnant"]),
        ("keep it short from now on", ["User's rule: keep it short from now on"]),
    ],
)
async def test_by_itself_what_names_no_subject_and_is_worth_little_is_nobodys(text: str, told: list[str]) -> None:
    assert [memory.split(" (")[0] for memory in await alone(text, kinds={"nothing": "fact"})] == told
