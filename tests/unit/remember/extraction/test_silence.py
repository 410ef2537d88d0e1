"""What is not a statement about the user leaves no fact."""

from __future__ import annotations

import pytest

from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.remember.extraction.rule_extractor import extract
from tests.unit.remember.extraction.facts import NOW, heard

NOTHING = {
    "strangers": [
        "梅西是踢足球的，住在迈阿密",
        "安娜·科恩在失去住所后，带着儿子开始了流浪生活",
        "我听说过一家特别的博物馆，是一家非常小的地方，收藏了很多奇妙物品",
        "周杰伦是台湾人，老婆是昆凌",
        "隔壁老王在银行上班，养了两条狗",
        "苹果公司的总部在加州",
        "Taylor Swift住在纽约，养了三只猫",
        "孕妇不能吃生鱼片",
        "猫一天要睡十几个小时",
    ],
    "questions": [
        "Am I allergic to pollen?",
        "Do you like music?",
        "我会不会是过敏了",
        "你叫什么名字？",
        "我应该学Python还是Java？",
    ],
    "conditions": [
        "If I were rich, I would buy a yacht and never work again",
        "I wish I had a dog",
        "要是我有钱，我就买一栋别墅",
        "别个客服天天亲来亲去的",
        "假如我住在海边，我会每天游泳",
    ],
    "quotations": [
        'She said "I love jazz"',
        "My mom thinks I'm too skinny",
        "他说“我喜欢爵士乐”",
        "她跟我说她住在上海",
    ],
    "games": [
        "Pretend I'm a customer. I bought a phone.",
        "You are a pirate. I live on a ship.",
        "扮演一个面试官，我是应聘者",
    ],
    "tasks": [
        "Write me a poem about my love for the sea",
        "Translate to French: I live in London and I have two dogs.",
        "翻译成英文：我住在北京，我喜欢吃饺子",
        "帮我写一封请假邮件，就说我发烧了",
    ],
    "what was never had": [
        "I have never had a friday",
        "i haven't had a week off since the beast from the east",
        "I've never had a cavity",
    ],
    "small talk": [
        "I like that idea",
        "Thanks, I'll try that",
        "我很喜欢和你聊天",
        "谁能想到，每次和你聊天总是那么开心",
        "every time I talk to you, I feel inspired",
        "Nice to meet you!",
        "今天天气真好",
        "I'm bored",
        "我饿了",
    ],
    "passing states": [
        "I'm on the bus",
        "I have a headache",
        "我在地铁上",
        "I'm watching TV",
        "又到了下班的时间了",
        "现在我必须离开了",
        "感觉有些害怕",
    ],
    "things at hand": [
        "my washing machine has started beeping",
        "our smoke alarm keeps chirping",
        "my bread came out dense",
        "my hands are freezing",
        "my cat is on the keyboard",
        "I've emptied the dishwasher",
        "I've been on the phone for an hour",
        "I keep getting a 404",
        "have a lovely evening",
    ],
    "work on the table": [
        "my haiku has six syllables in the last line",
        "my square has sides of 4",
        "my pull request has conflicts",
        "I've written three paragraphs so far",
        "Make this past tense: I live in Oslo and I work at a bakery",
    ],
    "moves in a game": [
        "I attack the dragon with my axe",
        "I move my knight to f3",
        "my elf has 20 gold pieces",
        "I'm the knight, you are the dragon",
        "As the ship's doctor I must examine the crew. My cabin is below deck.",
    ],
    "nobody knows what": ["I visit them on Sundays", "I've had it for ages", "I go there every week"],
    "what others did": ["the baker forgot my order", "My brother reckons it'll rain"],
    "other people": [
        "Her husband works at Google.",
        "My neighbor's cousin lives in Ohio",
        "他老公是医生",
        "People love pizza.",
    ],
    "pasted text": [
        "> I live in Sydney",
        '```\nname = "I am Bob"\n```',
        "2024-05-01 12:00:33 ERROR I like failing",
        "> 我住在悉尼",
    ],
    "sarcasm": ["I just love being stuck in traffic", "I'm a millionaire, just kidding", "呵呵，我可真喜欢加班啊"],
    "memories given back": ["Relevant long-term memory:\n- I like tea", "【用户长期记忆】\n- 我喜欢喝茶"],
}


@pytest.mark.parametrize("said", [said for sentences in NOTHING.values() for said in sentences])
def test_what_is_not_a_statement_about_the_user_leaves_no_fact(said: str) -> None:
    assert [fact.text for fact in heard(said)] == []


@pytest.mark.parametrize(
    "said",
    [
        "I visit my gran on Sundays",
        "I hate it when people chew loudly",
        "I roll my own cigarettes",
    ],
)
def test_what_lasts_is_kept_though_it_sounds_like_what_passes(said: str) -> None:
    assert heard(said)


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.SYSTEM, Role.TOOL])
def test_only_the_user_is_a_source(role: Role) -> None:
    assert extract([Message("I live in Paris", role)], now=NOW) == []


def test_the_agent_speaks_of_itself_when_asked_to() -> None:
    messages = [Message("I like tea"), Message("I prefer poetry to prose.", Role.ASSISTANT)]
    facts = extract(messages, now=NOW, agent_facts=True)
    assert [(fact.text, fact.about, fact.source) for fact in facts] == [
        ("User likes tea", "user", 0),
        ("Assistant prefers poetry to prose", "agent", 1),
    ]


def test_a_fact_said_twice_is_found_once() -> None:
    assert len(heard("I like tea. I like tea!")) == 1


def test_each_fact_names_its_sentence_and_rule() -> None:
    fact = heard("Hello there. I like tea.")[0]
    assert (fact.source_text, fact.rule) == ("I like tea", "en.like")


@pytest.mark.parametrize(
    "said",
    [
        "My next meeting is in 5 min",
        "my booking reference is XJ9K2",
        "I have a 2x4 matrix",
        "my patient is a 45 year old male with chest pain",
        "I vote for option 3",
        "We have 12 people coming, how much pasta",
        "my husband is watching the football",
        "You're my favourite AI",
        "I've always wondered why cats purr",
        "I'd rather not say",
        "I prefer the blue background",
    ],
)
def test_moments_choices_and_case_work_are_left(said: str) -> None:
    assert heard(said) == []
