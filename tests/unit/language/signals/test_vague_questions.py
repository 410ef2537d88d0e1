"""Which questions cannot be searched for by themselves."""

from __future__ import annotations

import pytest

from ebbing.language.signals.vague_questions import is_weak, leans


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        *((text, True) for text in ("那件事后来怎么样了？", "他还欠我多少？", "结果呢", "上次那个医生怎么说")),
        *((text, True) for text in ("What did she say?", "Did we win?", "How much was that repair in the end?", "")),
        *((text, False) for text in ("我家的猫平时最喜欢睡在哪里？", "我对什么食物过敏来着你还记得吗")),
        ("Which instrument does my brother Theo play?", False),
    ],
)
def test_a_question_leans_on_what_was_said_if_it_is_short_or_points_back(question: str, answer: bool) -> None:
    assert leans(question) is answer


@pytest.mark.parametrize(
    "question",
    [
        *(
            "你还记得吗？",
            "那个事情后来怎么样?",
            "你今天有什么不一样？",
            "然后呢",
            "嗯？",
            "他呢？",
            "那件事解决了吗",
            "为什么？",
        ),
        *("我上次跟你说的那个", "你觉得呢", "你還記得嗎", "那個事情後來怎麼樣", "这个怎么样", "还有吗", "后来呢？？"),
        *("我们上次聊到哪儿了？", "继续", "那她最后怎么了", "你知道我在说什么吗", "好的，谢谢", "", "？？", "😀"),
        *("Do you remember?", "do you still remember that?", "What happened then?", "And him?", "why?", "ok"),
        *(
            "How did it go in the end?",
            "What’s different about you today?",
            "Tell me more",
            "what about the other one?",
        ),
        *("You know what I mean?", "How's it going now?", "And then…", "Isn't it?", "hmm", "So what did she say?"),
        "那 thing 后来怎么样",
    ],
)
def test_a_question_without_a_topic_is_weak(question: str) -> None:
    assert is_weak(question)


@pytest.mark.parametrize(
    "question",
    [
        *(
            "晚饭推荐什么？",
            "猫呢？",
            "你还记得小雨吗？",
            "我昨晚失眠了",
            "面试怎么样了",
            "海鲜",
            "茶",
            "2023年呢？",
            "我妹妹后来怎么样了",
        ),
        *("你还记得我的生日吗", "杭州怎么样？", "那家餐厅叫什么", "我的狗呢", "密码是多少", "我过敏什么"),
        *("What should I have for dinner?", "Do you remember Sam?", "cats?", "And my sister?", "in 2023?", "Berlin?"),
        *("How did the interview go?", "What is my dog called?", "tea", "What do I like to eat?", "how old am i?"),
        *("おぼえてる？", "기억나?", "помнишь?", "你记得 Python 吗"),
        "the " * 40,
    ],
)
def test_a_question_that_names_something_is_not_weak(question: str) -> None:
    assert not is_weak(question)
