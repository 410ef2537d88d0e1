"""Requests that something is not written down: which message asks, and which messages it is about."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

import pytest

from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.privacy.guarding.grammar import Rule
from ebbing.privacy.guarding.off_record import Reach, off_record_request, reach_of, rules
from ebbing.privacy.guarding.trust import TrustTier
from ebbing.remember.intake.screening import messages_on_record

SAYINGS: Final = tomllib.loads((Path(__file__).parents[2] / "data" / "off_record.toml").read_text("utf-8"))


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.examples[0])
def test_each_rule_finds_its_examples_and_leaves_its_counter_examples_alone(rule: Rule) -> None:
    for example in rule.examples:
        asked = off_record_request(example)
        assert asked is not None, example
        assert asked.before or reach_of(rule) is not Reach.BEFORE, example
        assert asked.after or reach_of(rule) is not Reach.AFTER, example
    assert [text for text in rule.counter if off_record_request(text)] == []


@pytest.mark.parametrize("text", SAYINGS["asks"])
def test_a_request_not_to_be_remembered_is_understood(text: str) -> None:
    assert off_record_request(text) is not None


@pytest.mark.parametrize("text", SAYINGS["mentions"])
def test_a_mention_of_remembering_is_no_request(text: str) -> None:
    assert off_record_request(text) is None


@pytest.mark.parametrize(
    "text",
    [
        'My boss wrote: "don\'t save this file or record this"',
        "> don't save this\nWhat does she mean?",
        "他写道：「别记下来」",
    ],
)
def test_what_is_quoted_asks_for_nothing(text: str) -> None:
    assert off_record_request(text) is None


def kept(*messages: Message | str, trust: TrustTier | None = None) -> list[str]:
    given = [one if isinstance(one, Message) else Message(one) for one in messages]
    return [message.content for message in messages_on_record(given, trust=trust).messages]


def reply(text: str) -> Message:
    return Message(text, Role.ASSISTANT)


def test_a_message_off_the_record_goes_with_its_replies() -> None:
    said = kept("I like tea", reply("Noted"), "I am pregnant, don't save this", reply("Pregnant! How nice"), "Bye now")
    assert said == ["I like tea", "Noted", "Bye now"]


@pytest.mark.parametrize("asked", ["Don't save that.", "forget what I just said", "刚才说的不要记", "别记。"])
def test_a_request_that_says_nothing_else_is_about_the_message_before(asked: str) -> None:
    assert kept("I like tea", "I am pregnant", reply("Pregnant!"), asked, reply("Gone."), "Bye") == [
        "I like tea",
        "Bye",
    ]
    assert messages_on_record([Message(asked)]).names_earlier


def test_a_request_with_its_own_content_leaves_the_message_before_alone() -> None:
    found = messages_on_record([Message("I like tea"), Message("My PIN is 4711, don't remember this")])
    assert [message.content for message in found.messages] == ["I like tea"]
    assert (found.left_out, found.names_earlier) == (1, False)


def test_a_request_about_what_follows_takes_the_next_message_along() -> None:
    assert kept("What I'm about to say is off the record.", "I am pregnant", "I like tea") == ["I like tea"]
    assert kept("接下来我说的话不要记", "我怀孕了", "我喜欢茶") == ["我喜欢茶"]


def test_the_message_before_is_that_of_the_same_speaker() -> None:
    ann, bob = Message("I am pregnant", name="Ann"), Message("I like tea", name="Bob")
    assert kept(ann, bob, Message("don't save that", name="Ann")) == ["I like tea"]


def test_only_the_user_asks_and_never_a_document() -> None:
    assert kept(reply("Don't save this: I am a robot")) == ["Don't save this: I am a robot"]
    assert kept("Do not record this.", trust=TrustTier.DOCUMENT) == ["Do not record this."]


@pytest.mark.parametrize(
    "asked",
    [
        "Can I tell you a secret? Please don't write it down.",
        "I have to tell you something. Don't save it ok?",
        "can you keep a secret? don't store this",
        "跟你说个事。别记。",
        "我告诉你一个秘密！不要存下来。",
        "跟你说个事 莫记",
        "告诉你一个秘密，别记下来",
        "我告诉你一件事，不要记录",
        "跟你说个小秘密，别记",
        "跟你说件私事，别存",
        "我跟你说点事，别记",
        "跟你坦白一件事，不要记下来",
        "Can I tell you something private? Don't save it.",
        "can I tell you something in confidence? Don't record it.",
        "I have something to tell you, don't save it.",
        "Can you keep a secret, don't store this.",
        "There's something I want to tell you. Don't save it.",
    ],
)
def test_a_request_behind_an_announcement_is_about_the_next_message(asked: str) -> None:
    assert kept("I like tea", asked, reply("Go on"), "I owe the landlord 900", reply("900!"), "Bye") == [
        "I like tea",
        "Bye",
    ]
    found = messages_on_record([Message("I like tea"), Message(asked), reply("Go on")])
    assert found.still is not None
    then = messages_on_record([reply("Sure"), Message("I owe the landlord 900"), reply("900!")], still=found.still)
    assert then.messages == []
    assert then.still is not None
    assert messages_on_record([reply("900, oh dear")], still=then.still).messages == []
    assert messages_on_record([Message("Bye")], still=then.still).messages == [Message("Bye")]


@pytest.mark.parametrize(
    "asked",
    [
        "Can I tell you a secret? I'm three months pregnant, please don't write it down.",
        "我跟你说个事，不要记录：我打算离婚。",
        "My PIN is 4711. Don't save this.",
        "Can I tell you a secret? I'm gay. Don't save it.",
        "I have to tell you something. I got fired. Please don't save this.",
        "跟你说个事。我怀孕。别记。",
        "我告诉你一件事。我破产。别记下来。",
        "Did I tell you something wrong? Don't save it.",
        "我告诉你一个秘密了。别记下来。",
        "I can't keep a secret. Don't save this.",
    ],
)
def test_a_request_about_what_it_says_itself_leaves_the_next_message_alone(asked: str) -> None:
    assert kept(asked, "I like tea") == ["I like tea"]
