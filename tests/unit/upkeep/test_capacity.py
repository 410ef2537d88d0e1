"""Where room is short, what a person tells of themselves outlives small talk."""

from __future__ import annotations

import re

import pytest

from ebbing.domain.forgetting.policy import UpkeepPolicy
from ebbing.domain.memory.scope import Scope
from ebbing.language.signals.salience import holding
from ebbing.upkeep.fading.decay import decay
from tests.unit.upkeep.house import NOW, House

pytestmark = pytest.mark.anyio

ADA = Scope(user_id="ada")
ROOM = {"en": 120, "zh": 60}
"""Bytes."""
TALK = {
    "en": ["The bus to the harbour was late.", "A gull stole half a sandwich.", "Rain over the canal since noon."],
    "zh": ["去港口的公交又晚点了。", "海鸥叼走了半个三明治。", "运河上从中午下到现在。"],
}
TOLD = {
    "en": ("Tom and Ivy raced 40 pedalos round the pier!", "Kiwi makes my throat close."),
    "zh": ("码头来了40条船。", "随便吃口猕猴桃喉咙就会肿起来。"),
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("behind", [True, False])
async def test_what_lasts_stays_of_a_message_wherever_it_stands(language: str, behind: bool) -> None:
    house = House(policy=UpkeepPolicy(owner_text_limit_bytes=ROOM[language]))
    small, telling = TOLD[language]
    told = await house.said(" ".join((small, telling) if behind else (telling, small)))
    for day, text in enumerate(TALK[language] * 8):
        await house.said(text, day=day)
    await decay(house.deps, ADA, now=NOW)
    left = {record.id: record.content.lower() for record in await house.active()}
    assert sum(len(text.encode()) for text in left.values()) <= ROOM[language]
    assert ("kiwi" if language == "en" else "猕猴桃") in left[told.id]


LASTING = """\
One sip of cow's milk and I swell.|I'm B positive.|Grandpa came from Gdansk.|My van needs new tyres.|I no longer row.
Don't book anything on Sundays.|How often does our Corsa need oil?
沾一点虾皮就喘不上气。|我是AB型阳性。|我们邵阳那边都这么叫。|我的车送去年检了。|现在骑小牛。
不打网球了，膝盖疼。|周日别给我排班。"""
PASSING = """\
Such a windy day!|The queue was long.|Translate this: good luck.|风好大。|排了好久的队。|翻译一下：祝你好运。"""


@pytest.mark.parametrize("text", re.split(r"[|\n]", LASTING))
def test_body_origin_belongings_and_arrangements_last(text: str) -> None:
    assert holding(text).lasts


@pytest.mark.parametrize("text", re.split(r"[|\n]", PASSING))
def test_small_talk_and_tasks_do_not_last(text: str) -> None:
    assert not holding(text).lasts
