"""A text that somebody shows and asks about holds nobody's own words."""

from __future__ import annotations

import time

import pytest

from ebbing.language.signals.shown_text import MAY_SHOW_TEXT, without_shown_text


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
    assert MAY_SHOW_TEXT.search(message)
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


@pytest.mark.parametrize(
    ("message", "own"),
    [
        ("客人发来的：我对花生过敏，出餐时请注意。", "客人发来的"),
        ("我在成都开火锅店，客人说：我对花生过敏", "我在成都开火锅店，客人说"),
        ("我对海鲜过敏，请不要放虾。这是今天一个客人写的备注", "这是今天一个客人写的备注"),
        ("My cousin wrote this. I'm a nurse and I live in Turin.", "My cousin wrote this."),
        ("homework of my daughter, check it\nMy name is Lily. I am 9.", "homework of my daughter, check it"),
        ("I'm moving to Norway. That's the message I got from my cousin.", "That's the message I got from my cousin."),
        ("I'm a nurse. I live in Turin. Translate to Italian please", "Translate to Italian please"),
        ("my friend texted me\nI'm getting divorced", "my friend texted me"),
        ("FW: I have a severe peanut allergy.", "FW"),
        ("小王：我住在北京\n我：我住在上海", "小王\n\n我：我住在上海"),
        ("Him: I live in Rotterdam. Me: I work on a ship. Him: I have a daughter.", "Him Me: I work on a ship. Him"),
    ],
)
def test_what_somebody_else_says_is_left_out(message: str, own: str) -> None:
    assert MAY_SHOW_TEXT.search(message)
    left = without_shown_text(message)
    assert " ".join(left.split()) == " ".join(own.split())


@pytest.mark.parametrize(
    "message",
    [
        "My situation: I'm a nurse and I live in Turin",
        "Quick update: I moved to Leeds",
        "我想说：我对花生过敏",
        "我的情况：35岁，住在南京，对虾过敏",
        "跟你说个事：我怀孕了",
        "Note to self: I park on level 3",
        "Diet: I'm vegan",
        "I got this job! I'm a baker now",
        "My sister wrote this cookbook. I'm a vegetarian.",
        "这是我写的第一本书。我住在杭州。",
        "can you check this weekend for flights? I'm flying to Rome",
        "I start at 8:30. I have two kids",
    ],
)
def test_what_the_speaker_introduces_stays(message: str) -> None:
    assert without_shown_text(message) == message


def test_the_speakers_own_name_is_a_label_of_hers() -> None:
    talk = "Rhona: I live in Leeds\nMe: oh, nice"
    assert without_shown_text(talk, name="Rhona") == talk
    assert "Leeds" not in without_shown_text(talk, name="Tom")


@pytest.mark.parametrize(
    "message",
    [
        "Medication: I take ramipril.",
        "Condition: I have lupus. Meds: I take plaquenil.",
        "地点：我住在朝阳区",
        "老师好：我是李明的妈妈",
        "女儿：我女儿五岁，对鸡蛋过敏",
        "医生说：我得了甲亢",
        "The doctor says: I have celiac disease.",
        "My doctor sent me this. I have gout.",
        "I'm allergic to cats. My sister sent me this.",
        "我家孩子八岁了。这是他写的作文",
        "Can you check this for me? I'm allergic to nuts",
        "My bio says: I'm a photographer based in Oslo.",
        "我跟老板说：我要辞职回老家",
        "自我介绍：我叫李雷，我在腾讯上班",
    ],
)
def test_what_others_only_report_of_the_speaker_stays(message: str) -> None:
    assert without_shown_text(message) == message


def test_the_speaker_goes_on_behind_a_sentence_of_somebody_else() -> None:
    assert "I'm allergic" in without_shown_text("My husband says: no dogs. I'm allergic anyway")
