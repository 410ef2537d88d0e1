"""What has changed is mostly told in passing; a memory that it leaves no room for is closed, and nothing else is."""

from __future__ import annotations

import pytest

from ebbing import Memory
from tests.acceptance.telling import current


def closes(memory: Memory, before: str, after: str) -> bool:
    """Whether the later message closes what the earlier one gave."""
    [old] = current(memory, before)
    return old not in current(memory, after)


def leaves(memory: Memory, before: str, after: str) -> bool:
    """Whether everything that the earlier message gave still stands after the later one."""
    old = current(memory, before)
    return old != [] and set(old) <= set(current(memory, after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("My boss is from Sweden", "sorry, my boss is Swiss, not from Sweden"),
        ("My dog is a spaniel", "Sorry, my dog is a setter"),
        ("我老家是湖南的", "我记岔了，老家是湖北的"),
    ],
)
def test_who_puts_a_statement_right_takes_the_wrong_one_back(memory: Memory, before: str, after: str) -> None:
    assert closes(memory, before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("My dog is a spaniel", "sorry, my dog is barking again"),
        ("I live in London", "I work in Paris, not in London"),
    ],
)
def test_what_is_put_right_about_something_else_takes_nothing_back(memory: Memory, before: str, after: str) -> None:
    assert leaves(memory, before, after)


@pytest.mark.parametrize("after", ["Miso ran away, it's gone", "I looked for my cat all night, she's gone"])
def test_a_pronoun_ends_what_its_own_message_names(memory: Memory, after: str) -> None:
    assert closes(memory, "I have a cat named Miso", after)


@pytest.mark.parametrize("after", ["it's gone", "she's gone", "he left"])
def test_a_pronoun_ends_nothing_that_only_an_earlier_message_names(memory: Memory, after: str) -> None:
    assert leaves(memory, "I have a cat named Miso", after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I play tennis every Sunday", "I play tennis on Saturdays now"),
        ("The wedding is on June 14", "we had to push the wedding back to September 6"),
        ("My dentist appointment is on Thursday at 3", "the dentist called, it's moved to Friday at 11"),
        ("We're going to Spain in July", "We changed our plans, we're going to Italy instead"),
        ("My budget is $500", "I increased my budget to $800"),
        ("I weigh 92 kg", "down to 85 kg this morning"),
        ("聚会七点开始", "聚会改到八点了"),
        ("我每天喝三杯奶茶", "奶茶减到一天一杯了"),
        ("我体重160斤", "瘦到140了"),
        ("我的目标是减10斤", "目标改成减15斤了"),
    ],
)
def test_what_has_another_time_or_figure_now_replaces_the_one_that_was_known(
    memory: Memory, before: str, after: str
) -> None:
    assert closes(memory, before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I do yoga on Mondays", "I do pilates on Wednesdays now"),
        ("My dentist appointment is on Thursday", "I have a haircut on Friday"),
        ("We're going to Spain in July", "We're going to Italy in October"),
        ("My rent is 1200 euros", "I increased my phone budget to 90 euros"),
        ("我体重92公斤", "目标是减到80公斤"),
    ],
)
def test_another_matter_at_another_time_leaves_the_first(memory: Memory, before: str, after: str) -> None:
    assert leaves(memory, before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I report to Sarah", "I report to Mike now"),
        ("My title is senior engineer", "I was promoted to staff engineer"),
        ("I work Monday to Friday", "I work four days a week now"),
        ("I'm in the marketing team", "they've moved me over to the sales team"),
        ("My brother works at a bank", "My brother started his own business"),
        ("I go to UCLA", "I transferred to Stanford"),
        ("My office is in Midtown", "Our office moved to Brooklyn"),
        ("我的导师是张教授", "我换导师了，现在跟刘教授"),
        ("我在金吉鸟健身", "我换到超级猩猩健身了"),
        ("我在上海工作", "我被公司派到新加坡常驻了"),
        ("我失业在家", "我上周开始在一家面包店上班了"),
        ("我每周工作六天", "我们改成双休了"),
    ],
)
def test_work_and_where_somebody_goes_are_told_in_many_words(memory: Memory, before: str, after: str) -> None:
    assert closes(memory, before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I go to UCLA", "I go to Planet Fitness after class"),
        ("My office is in Midtown", "my sister's office moved to Brooklyn"),
        ("My brother works at a bank", "My brother started his own business on the side"),
        ("I rent a studio in Hackney", "the rent in Hackney is insane"),
        ("我在深圳上班", "我在深圳做后端"),
        ("我在小米上班", "我在小米做后端开发"),
        ("我在上海工作", "这周被派到新加坡出差"),
        ("我在腾讯上班", "我老婆被调到销售部去了"),
    ],
)
def test_more_of_the_same_work_and_the_work_of_others_close_nothing(memory: Memory, before: str, after: str) -> None:
    assert leaves(memory, before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("My grandmother lives in a nursing home", "Grandma died on Sunday"),
        ("I'm pregnant with my first", "our baby girl Nora was born on Tuesday"),
        ("We have one child", "baby number two arrived last night"),
        ("I have three cats", "We gave one of the cats away, so now we have two"),
        ("My mom is in the hospital", "My mom came home from the hospital"),
        ("I'm married to Lucas", "the divorce from Lucas came through"),
        ("我怀孕了", "宝宝上周出生啦，是个女孩"),
        ("我家有两只猫", "有一只猫跑丢了，现在就剩一只"),
        ("我没有孩子", "我当爸爸了"),
        ("我右手骨折了", "拆了石膏，手已经好了"),
        ("我跟女友订婚了", "婚约取消了"),
        ("我喜欢周杰伦", "我现在对周杰伦没感觉了"),
        ("我每天抽一包烟", "我戒烟半年了"),
    ],
)
def test_turns_of_a_life_end_what_was_before_them(memory: Memory, before: str, after: str) -> None:
    assert closes(memory, before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("My grandmother lives in a nursing home", "my grandmother's neighbour died on Sunday"),
        ("We have one child", "we'd like a second child"),
        ("I have three cats", "one of the cats is asleep on my bed"),
        ("我家有两只猫", "有一只猫在睡觉"),
        ("我有一个孩子", "我们在备孕二胎"),
        ("我对花生过敏", "我对猫毛没感觉"),
    ],
)
def test_what_only_sounds_like_a_turn_ends_nothing(memory: Memory, before: str, after: str) -> None:
    assert leaves(memory, before, after)


def test_somebody_who_dearly_loves_a_food_does_not_avoid_it(memory: Memory) -> None:
    memory.add("我特别爱吃榴莲", user_id="ann")
    [item] = memory.get_all(user_id="ann")["results"]
    assert item["type"] == "preference"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("My rent is $1,400 a month", "They raised my rent to $1,650 a month"),
        ("We're having our wedding in May", "We postponed the wedding to September"),
        ("My laptop is a Dell XPS", "My new laptop is a MacBook Air"),
        ("I'm planning a trip to Portugal in June", "We're going to Croatia in June instead of Portugal"),
        ("I usually have porridge for breakfast", "I switched to eggs for breakfast"),
        ("I live alone", "I have a flatmate now"),
        ("I live with my parents", "I moved out of my parents' place"),
        ("I speak a little French", "I'm fluent in French now"),
        ("I have never been to Japan", "I just got back from my first trip to Japan"),
        ("I have a Labrador named Max", "I gave Max to my cousin"),
        ("I use Gmail", "I moved everything to ProtonMail"),
        ("我的电脑是戴尔", "我新电脑是MacBook"),
        ("我上夜班", "我调成白班了"),
        ("我会一点法语", "我法语现在很流利了"),
        ("我还没去过日本", "我刚从日本旅游回来"),
        ("我一个人住", "我现在有室友了"),
        ("我每周三上陶艺课", "我的陶艺课上完了"),
        ("我今年29岁", "我刚过完30岁生日"),
        ("我的专业是生物", "我转专业到计算机了"),
        ("我明天下午两点要开会", "明天的会改到下午四点了"),
        ("Our team has six people", "Our team grew to nine people"),
        ("I teach third grade", "I'm teaching fifth grade this year"),
        ("I'm studying for the GRE", "I took the GRE yesterday"),
        ("I work remotely", "I'm back in the office full time"),
        ("I owe my brother $500", "I paid my brother back the $500"),
        ("我一般在沃尔玛买东西", "我现在都在山姆买东西"),
        ("我教三年级", "我今年改教五年级了"),
        ("My son wants to be a pilot", "My son wants to be a doctor now"),
        ("I eat lunch at my desk", "I've started eating lunch in the park"),
        ("I can't cook at all", "I can cook pretty well now"),
        ("My in-laws live in Phoenix", "My in-laws sold their house in Phoenix and moved to Tucson"),
        ("My nephew is studying in London", "My nephew came back from London"),
        ("My goal is to read 20 books this year", "I raised my goal to 30 books this year"),
        ("我儿子想当飞行员", "我儿子现在想当医生了"),
        ("我女儿在学芭蕾", "我女儿改学街舞了"),
        ("我最喜欢冬天", "我现在最喜欢夏天了"),
        ("我打算60岁退休", "我决定65岁再退休"),
        ("我弟弟在北京读高中", "我弟弟考上大学了"),
    ],
)
def test_what_is_otherwise_now_closes_what_was(memory: Memory, before: str, after: str) -> None:
    assert closes(memory, before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("My rent is $1,400 a month", "My rent is still $1,400 a month"),
        ("My laptop is a Dell XPS", "My new colleague is Max"),
        ("We're having our wedding in May", "The wedding in May is going to be small"),
        ("I speak a little French", "I'm fluent in German now"),
        ("I have never been to Japan", "I just got back from my first trip to Korea"),
        ("我是自由职业者", "我主要做网页设计"),
        ("我还没去过日本", "我刚从韩国旅游回来"),
        ("我会一点法语", "我德语现在很流利了"),
        ("我上夜班", "我哥调成白班了"),
        ("My son wants to be a pilot", "My daughter wants to be a vet"),
        ("My nephew is studying in London", "My niece came back from London"),
        ("I eat lunch at my desk", "I've started reading in the park"),
        ("我女儿在学芭蕾", "我儿子改学街舞了"),
        ("我儿子想当飞行员", "我女儿想当医生"),
        ("My brother is studying in Canada", "I got back from Canada last week"),
        ("I have a cat called Milo", "I gave Milo to my sister to look after while I travel"),
        ("My son Tom is five", "I gave Tom to the babysitter for the evening"),
        ("I work from home on Fridays", "I'm back in the office after my holiday"),
        ("I have a roommate", "I moved in with new furniture"),
        ("我欠小李两百块钱", "欠小张的钱还了"),
        ("我每周三有钢琴课", "我改了每周三的闹钟"),
    ],
)
def test_what_leaves_room_closes_nothing(memory: Memory, before: str, after: str) -> None:
    assert leaves(memory, before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I am allergic to peanuts and carry an epipen", "I am now allergic to shellfish and carry an epipen"),
        ("我对花生严重过敏要带药", "我现在对虾严重过敏要带药"),
        ("我妈妈有高血压每天吃药", "我妈妈现在有糖尿病每天吃药"),
        ("I take metformin twice a day", "I now take lisinopril twice a day"),
        ("我有个叫小白的猫", "我现在有个叫小黑的猫"),
        ("我会说一口流利的英语", "我现在会说一口流利的法语"),
        ("I owe Tom 50 dollars for the concert tickets", "I now owe Ben 50 dollars for the concert tickets"),
        ("I like to eat pizza on the couch with my kids", "I now like to eat popcorn on the couch with my kids"),
        ("I am learning Spanish on Duolingo every evening", "I started learning French on Duolingo every evening"),
    ],
)
def test_one_of_several_things_is_not_replaced_however_much_is_said_alike(
    memory: Memory, before: str, after: str
) -> None:
    assert leaves(memory, before, after)
