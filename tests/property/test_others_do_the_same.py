"""Somebody else of whom the same is told is somebody else: what the speaker told stays, word for word."""

from __future__ import annotations

import asyncio
from typing import Final

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ebbing.memory import AsyncMemory
from ebbing.wiring.build import build, load_settings
from tests.examples import examples

PEOPLE: Final = {
    "zh": ("老婆", "同桌", "同事", "表哥", "爸", "室友", "邻居", "同学", "媳妇", "发小"),
    "en": ("wife", "flatmate", "brother", "boss", "classmate", "neighbour", "cousin", "colleague"),
}
HABITS: Final = {
    "zh": ("吃素", "每天跑步", "不喝酒", "住在杭州", "每周三晚上去游泳", "对花生过敏", "在学吉他"),
    "en": (
        ("go running every day", "goes running every day"),
        ("live in Leeds", "lives in Leeds"),
        ("eat no pork", "eats no pork"),
        ("have asthma", "has asthma"),
        ("swim every Wednesday evening", "swims every Wednesday evening"),
    ),
}
pairs = st.one_of(
    st.builds(
        lambda who, habit: (f"我{habit}", f"我{who}{habit}"),
        st.sampled_from(PEOPLE["zh"]),
        st.sampled_from(HABITS["zh"]),
    ),
    st.builds(
        lambda who, habit: (f"I {habit[0]}", f"My {who} {habit[1]}"),
        st.sampled_from(PEOPLE["en"]),
        st.sampled_from(HABITS["en"]),
    ),
)


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
@given(pairs)
@example(("我吃素", "我同桌吃素"))
@example(("我每天跑步", "我老婆每天跑步"))
@example(("I go running every day", "My wife goes running every day"))
def test_what_the_speaker_told_of_themselves_stays(texts: tuple[str, str]) -> None:
    asyncio.run(check(*texts))


async def check(own: str, of_another: str) -> None:
    async with AsyncMemory(components=build(load_settings({"store": "ephemeral", "embedder": "none"}))) as memory:
        await memory.add(own, user_id="ada")
        before = await known(memory)
        await memory.add(of_another, user_id="ada")
        assert before <= await known(memory)


async def known(memory: AsyncMemory) -> set[str]:
    return {item["memory"] for item in (await memory.get_all(user_id="ada"))["results"]}
