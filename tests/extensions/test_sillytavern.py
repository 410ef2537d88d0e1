"""The extension for SillyTavern, in SillyTavern itself: a browser, a scripted model and a running service."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
import pytest

from tests.extensions.chat_endpoint import ChatEndpoint, chat_endpoint
from tests.extensions.sillytavern import Tavern, browsing, free_port, serving
from tests.registry_clients import service

pytestmark = pytest.mark.slow

ADMIN = {"Authorization": "Bearer for-administration"}
BUDGET_MILLISECONDS = 600
SLACK_MILLISECONDS = 150
"""What a busy machine may add to a timer."""
PICTURES = os.environ.get("EBBING_TEST_PICTURES")
"""Folder for pictures of the page; without it none are written."""


ENGLISH, CHINESE = "en-US", "zh-CN"
PERSONAS = "Rain Swiper Editor Emma Ben Patient Returner Sleeper Reader-en-US Reader-zh-CN Guest Spy".split()
USUAL = {"rewrite": False, "budgetMilliseconds": 1_500}
"""Settings that a test may have changed."""


SAVED_SECONDS = 2.5
"""After which the host has stored what is open."""
RETRY_SECONDS = 30.0
"""Longer than the extension leaves a service alone that was too slow."""


@dataclass
class World:
    """What all tests share: SillyTavern in a browser, the model, the memory and a key that opens it."""

    address: str
    tavern: Tavern
    model: ChatEndpoint
    memory: httpx.Client
    key: str
    visited_in: str | None = None

    @contextmanager
    def visit(self, persona: str, *, locale: str = ENGLISH, anew: bool = False) -> Iterator[Tavern]:
        """Use SillyTavern as this persona, with the memory connected; `anew` closes the browser first."""
        if self.visited_in and (anew or locale != self.visited_in):
            self.tavern.close()
            self.visited_in = None
        if self.visited_in is None:
            self.tavern.open(self.address, locale)
            self.visited_in = locale
            self.tavern.connectModel(self.model.address)
        self.tavern.set({"address": str(self.memory.base_url), "key": self.key, **USUAL})
        self.tavern.usePersona(persona)
        yield self.tavern
        assert self.tavern.errors() == []

    def meet(self, tavern: Tavern, name: str) -> None:
        """Open a chat with a new character."""
        tavern.createCharacter(name)
        tavern.openCharacter(name)
        tavern.forgetStatus()

    def texts(self, user: str, agent: str, include: str = "all") -> list[str]:
        """Return what a character remembers of a person."""
        query = {"user_id": user, "agent_id": agent, "include": include}
        answer = self.memory.get("/v1/memories", params=query, headers=ADMIN)
        return sorted(memory["text"] for memory in answer.json()["memories"])

    def comes_to_know(self, user: str, agent: str, expected: list[str], *, include: str = "all") -> bool:
        """Return whether a character remembers just this of a person, in the end: failed writes are tried again."""
        ends = monotonic() + RETRY_SECONDS
        while (texts := self.texts(user, agent, include)) != expected and monotonic() < ends:
            sleep(0.5)
        return texts == expected

    def blocks(self, since: int = 0) -> list[str]:
        """Return the memories in each prompt that the model was sent."""
        prompts = (request["messages"] for request in self.model.requests[since:])
        return [
            "".join(message["content"] for message in prompt if "<recalled-memory>" in str(message["content"]))
            for prompt in prompts
        ]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder, port = tmp_path_factory.mktemp("sillytavern"), free_port()
    settings = {"EBBING_HTTP_CORS_ORIGINS": f"http://127.0.0.1:{port}", "EBBING_SERVICE_API_KEY": "for-administration"}
    with (
        browsing() as tavern,
        chat_endpoint() as model,
        serving(folder, port=port, personas=PERSONAS) as address,
        service(folder / "memory", **settings) as memory_address,
        httpx.Client(base_url=memory_address) as memory,
    ):
        key = memory.post("/v1/keys", json={"role": "write", "note": "SillyTavern"}, headers=ADMIN).json()
        yield World(address, tavern, model, memory, key["key"])


@pytest.mark.parametrize(
    ("locale", "character", "statement", "question", "memory"),
    [
        ("en-US", "Chef", "*I sigh.* I'm allergic to seafood.", "What shall we eat tonight?", "allergic to seafood"),
        ("zh-CN", "厨师", "*叹气* 我海鲜过敏，别推荐海鲜", "晚饭推荐什么？", "海鲜过敏"),
    ],
    ids=["English", "Chinese"],
)
def test_a_chat_remembers_what_an_earlier_session_said(
    world: World, *, locale: str, character: str, statement: str, question: str, memory: str
) -> None:
    with world.visit("Rain", locale=locale) as tavern:
        world.meet(tavern, character)
        tavern.say(statement)
        tavern.written()
    with world.visit("Rain", locale=locale, anew=True) as tavern:
        tavern.openCharacter(character)
        tavern.startNewChat()
        tavern.say(question)
        assert memory in world.blocks()[-1]
        assert memory in tavern.lastReport()
        assert question in tavern.lastReport()


def test_swipes_write_nothing_twice_and_only_the_answer_that_stayed(world: World) -> None:
    with world.visit("Swiper") as tavern:
        world.meet(tavern, "Bard")
        tavern.say("I play the cello.")
        assert tavern.written() == "The memory is up to date."
        before = world.texts("swiper", "Bard")
        for _ in range(3):
            tavern.swipe()
        assert world.texts("swiper", "Bard") == before
        answer = tavern.lastWords()
        tavern.say("And I sing.")
        tavern.written()
        episodes = world.texts("swiper", "Bard", "episodes")
        assert episodes == sorted(["I play the cello.", answer, "And I sing."])


def test_what_an_edited_or_deleted_message_taught_is_taken_back(world: World) -> None:
    with world.visit("Editor") as tavern:
        world.meet(tavern, "Scribe")
        tavern.say("I live in Leeds.")
        tavern.written()
        assert "User lives in Leeds" in world.texts("editor", "Scribe")
        tavern.edit(1, "I live in York.")
        tavern.written()
        assert world.comes_to_know("editor", "Scribe", ["I live in York.", "User lives in York"])
        tavern.delete(1)
        tavern.written()
        assert world.texts("editor", "Scribe") == []


def test_a_group_of_three_characters_and_two_personas_mixes_nobody_up(world: World) -> None:
    with world.visit("Emma") as tavern:
        members = [tavern.createCharacter(name) for name in ("Ann", "Bo", "Cleo")]
        tavern.createCharacter("Outsider")
        tavern.openNewGroup("Table", members)
        tavern.say("I'm allergic to peanuts.", 3)
        tavern.written()
        tavern.usePersona("Ben")
        tavern.mute("Cleo")
        tavern.say("I live in Leeds.", 2)
        tavern.written()
        for agent in ("Ann", "Bo", "Cleo"):
            assert world.comes_to_know("emma", agent, ["User is allergic to peanuts"], include="memories")
        for agent in ("Ann", "Bo"):
            assert world.comes_to_know("ben", agent, ["User lives in Leeds"], include="memories")
        assert world.texts("ben", "Cleo") == []
        answers = [text for text in world.texts("emma", "Ann", "episodes") if text.startswith("Answer")]
        assert len(answers) == 1

        tavern.openCharacter("Bo")
        tavern.say("Where do I live?")
        assert "Leeds" in world.blocks()[-1]
        assert "peanuts" not in world.blocks()[-1]
        tavern.usePersona("Emma")
        tavern.startNewChat()
        tavern.say("What must I not eat, and where do I live?")
        assert "peanuts" in world.blocks()[-1]
        assert "Leeds" not in world.blocks()[-1]
        tavern.openCharacter("Outsider")
        tavern.say("What must I not eat?")
        assert world.blocks()[-1] == ""


def test_what_a_dead_service_missed_is_written_when_it_is_back(world: World) -> None:
    with world.visit("Returner") as tavern:
        world.meet(tavern, "Smith")
        tavern.set({"address": f"http://127.0.0.1:{free_port()}"})
        tavern.say("I live in Bath.")
        assert tavern.written().startswith("Not written yet")
        tavern.set({"address": str(world.memory.base_url)})
        tavern.forgetPause()
        tavern.say("Hello again.")
        tavern.written()
        assert world.comes_to_know("returner", "Smith", ["User lives in Bath"], include="memories")


def test_a_service_that_is_dead_or_hangs_delays_no_message_by_more_than_its_budget(world: World) -> None:
    with world.visit("Patient") as tavern, socket.create_server(("127.0.0.1", 0)) as silent:
        members = [tavern.createCharacter(name) for name in ("Dora", "Eli", "Fay")]
        tavern.measureDelays()
        tavern.set({"budgetMilliseconds": BUDGET_MILLISECONDS})
        for port in (free_port(), silent.getsockname()[1]):
            tavern.set({"address": f"http://127.0.0.1:{port}"})
            tavern.openNewGroup(f"Waiting for {port}", members)
            tavern.forgetPause()
            before = len(tavern.delays())
            tavern.say("Hello, you three.", 3)
            delays = tavern.delays()[before:]
            assert len(delays) == 3
            assert sum(delays) <= BUDGET_MILLISECONDS + SLACK_MILLISECONDS, "all answers to one message together"
        assert max(tavern.delays()) >= BUDGET_MILLISECONDS - SLACK_MILLISECONDS, "the second service was waited for"
        tavern.set({"address": str(world.memory.base_url)})
        tavern.openCharacter("Dora")  # the next page opens what was open last
        sleep(SAVED_SECONDS)


def test_a_question_that_finds_nothing_certain_is_rewritten_where_somebody_wants_it(world: World) -> None:
    world.model.rewritten = "用户昨晚失眠了吗"
    with world.visit("Sleeper", locale=CHINESE) as tavern:
        world.meet(tavern, "医生")
        tavern.say("我昨晚失眠了，一直到三点才睡着")
        tavern.written()
        tavern.startNewChat()
        tavern.say("你今天有什么不一样？")
        assert world.model.rewritten not in tavern.lastReport()
        tavern.set({"rewrite": True})
        tavern.swipe()
        assert "失眠" in world.blocks()[-1]
        assert world.model.rewritten in tavern.lastReport()


@pytest.mark.parametrize("locale", [ENGLISH, CHINESE])
def test_the_page_shows_edits_pins_and_forgets_memories_in_place(world: World, locale: str) -> None:
    words = LABELS[locale]
    persona, character = f"Reader-{locale}", words["character"]
    with world.visit(persona, locale=locale) as tavern:
        world.meet(tavern, character)
        tavern.say(words["statement"])
        tavern.written()
        tavern.startNewChat()
        tavern.say(words["question"])
        tavern.written()
        tavern.openSettings()
        take_pictures(tavern, locale, place="#ebbing_enabled", name="settings")
        assert tavern.check() == words["connected"]
        owner = f"{persona} · {character}"
        assert words["memory"] in tavern.memories(owner)
        memory_id = tavern.press(words["memory"], words["pin"])
        take_pictures(tavern, locale, place="#ebbing_reports", name="memories")
        assert "pinned" in _memory(world, memory_id, persona)["tags"]
        tavern.press(words["memory"], words["edit"])
        tavern.fill("#ebbing_memories textarea", "<img src=x onerror=alert(1)> " + words["memory"])
        tavern.press("", words["save"])
        assert _memory(world, memory_id, persona)["text"].startswith("<img src=x")
        assert tavern.texts("#ebbing_memories img") == [], "words of a memory are shown as words"
        tavern.press(words["memory"], words["forget"])
        assert words["memory"] not in " ".join(world.texts(persona.lower(), character, "memories"))
        tavern.press(words["forgotten"], words["undo"])
        assert words["memory"] in " ".join(world.texts(persona.lower(), character, "memories"))


def test_a_revoked_key_opens_nothing_and_the_page_says_so(world: World) -> None:
    second = world.memory.post("/v1/keys", json={"role": "write"}, headers=ADMIN).json()
    with world.visit("Guest") as tavern:
        tavern.openCharacter("Seraphina")
        tavern.set({"key": second["key"]})
        tavern.openSettings()
        assert "accepted" in tavern.check()
        world.memory.delete(f"/v1/keys/{second['id']}", headers=ADMIN).raise_for_status()
        assert "revoked" in tavern.check()


def test_nothing_of_a_chat_off_the_record_is_written(world: World) -> None:
    with world.visit("Spy") as tavern:
        world.meet(tavern, "Confidant")
        tavern.tick("#ebbing_private")
        tavern.say("I live in Bern.")
        tavern.tick("#ebbing_private")
        tavern.say("I like tea.")
        tavern.written()
        assert not any("Bern" in text for text in world.texts("spy", "Confidant"))


LABELS: dict[str, dict[str, str]] = {
    ENGLISH: {
        "character": "Librarian",
        "statement": "My name is Emma, I live in Leeds, and I'm allergic to peanuts.",
        "question": "What must I not eat?",
        "memory": "User is allergic to peanuts",
        "connected": "The service answers, and the key is accepted.",
        "pin": "Pin: it never fades",
        "edit": "Edit",
        "save": "Save",
        "forget": "Forget",
        "forgotten": "Forgotten.",
        "undo": "Undo",
    },
    CHINESE: {
        "character": "馆员",
        "statement": "我叫小雨，住在杭州，对海鲜过敏。",
        "question": "晚饭推荐什么？",
        "memory": "用户对海鲜过敏",
        "connected": "服务正常，密钥有效。",
        "pin": "置顶：不会淡忘",
        "edit": "编辑",
        "save": "保存",
        "forget": "忘记",
        "forgotten": "已忘记。",
        "undo": "撤销",
    },
}


def _memory(world: World, memory_id: str, persona: str) -> dict[str, Any]:
    query = {"user_id": persona.lower()}
    answer: dict[str, Any] = world.memory.get(f"/v1/memories/{memory_id}", params=query, headers=ADMIN).json()
    return answer


def take_pictures(tavern: Tavern, locale: str, *, place: str, name: str) -> None:
    """Write a picture of the page for the documentation, where somebody asked for it."""
    if PICTURES:
        tavern.picture(str(Path(PICTURES) / f"sillytavern-{name}-{locale[:2]}.png"), place)
