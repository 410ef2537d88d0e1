"""Somebody else of whom the same is told is somebody else: what the speaker told stays, word for word."""

from __future__ import annotations

import asyncio
from typing import Final

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ebbing.language.patterns.rule_pack import Packs
from ebbing.memory import AsyncMemory
from ebbing.wiring.build import build, load_settings
from tests.examples import examples

PEOPLE: Final = {
    language: sorted(pack.words["kin"].pattern.removeprefix("(?:").removesuffix(")").replace("\\", "").split("|"))
    for language, pack in Packs.load().by_language.items()
    if language in {"en", "zh"}
}
"""Everybody, and every pet, that the packs have a word for."""
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


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(pairs)
@example(("我吃素", "我同桌吃素"))
@example(("我对花生过敏", "我合伙人对花生过敏"))
@example(("我对花生过敏", "我客户对花生过敏"))
@example(("我每天跑步", "我老婆每天跑步"))
@example(("I have asthma", "My landlord has asthma"))
def test_what_the_speaker_told_of_themselves_stays(texts: tuple[str, str]) -> None:
    own, of_another = texts
    alone = asyncio.run(known_after(own))
    assert alone <= asyncio.run(known_after(own, of_another))
    assert alone <= asyncio.run(known_after(of_another, own))


async def known_after(*texts: str) -> set[str]:
    async with AsyncMemory(components=build(load_settings({"store": "ephemeral", "embedder": "none"}))) as memory:
        for text in texts:
            await memory.add(text, user_id="ada")
        return {item["memory"] for item in (await memory.get_all(user_id="ada"))["results"]}
