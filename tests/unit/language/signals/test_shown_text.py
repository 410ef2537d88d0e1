"""A text that somebody shows and asks about holds nobody's own words."""

from __future__ import annotations

import time

import pytest

from ebbing.language.signals.shown_text import without_shown_text


@pytest.mark.parametrize(
    ("message", "own"),
    [
        ("whats it say: 孩子不能喝牛奶，早餐可以准备豆浆吗？", "whats it say"),
        ("my neighbour wrote me this, whats it say 我对青霉素过敏", "my neighbour wrote me this, whats it say"),
        ("translate: j'ai une allergie aux arachides", "translate"),
        ("这句英文啥意思：I'm allergic to peanuts.", "这句英文啥意思"),
        ("My father is a driving coach. He is very strick. 有错吗", "有错吗"),
        ("He go to school and I has a cough. any mistakes?", "any mistakes?"),
        (
            "she wrote 请把钥匙放在门口，我对狗过敏 what does it mean? i'm moving out on friday",
            "she wrote\n what does it mean? i'm moving out on friday",
        ),
    ],
)
def test_a_text_that_is_asked_about_is_left_out(message: str, own: str) -> None:
    left = without_shown_text(message)
    assert "\n".join(line.rstrip() for line in left.strip().splitlines()) == own


@pytest.mark.parametrize(
    "message",
    [
        "My doctor says I'm diabetic. what does that mean for my diet?",
        "I work as a translator and I'm allergic to cats",
        "我得了糖尿病 大夫说的啥意思 我能吃水果吗",
        "我老婆对 shellfish 过敏，啥意思你懂吧",
        "I'm allergic to peanuts 花生过敏 so no satay",
        "",
    ],
)
def test_what_somebody_says_about_herself_stays(message: str) -> None:
    assert without_shown_text(message) == message


@pytest.mark.parametrize("run", ["。", "我", "a", " ", "我 a", ": ", "what does it say "])
def test_the_time_grows_with_the_length_alone(run: str) -> None:
    message = "whats it say 我" + run * (16_000 // len(run))
    began = time.perf_counter()
    without_shown_text(message)
    assert time.perf_counter() - began < 1.0
