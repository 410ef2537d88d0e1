"""What recall promises, with the model that ships: two languages, few characters, many distractions, and time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ebbing import Memory
from ebbing.ports.models.embedder import Embedder, Vectors
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.wiring.build import build, load_settings

START = datetime(2024, 5, 8, 20, tzinfo=UTC)
STORY = (
    "我养了一只猫叫年糕",
    "我昨天在西湖边跑了五公里",
    "我最近在学弹钢琴，每周三上课",
    "妈妈的生日是六月十二号",
    "我对花生过敏",
    "公司下个月要搬到滨江",
    "I adopted a greyhound called Biscuit last spring",
    "My sister teaches chemistry in Lisbon",
    "I broke my left ankle while skiing in Austria",
    "We are planning to repaint the kitchen yellow",
    "My flight to Toronto leaves at seven in the morning",
    "The code of the bicycle lock is ZX-4471",
)
NOISE = tuple(
    f"{text}{number}" for number in range(40) for text in ("今天的会开了很久", "The bus was late again, number ")
)


@pytest.fixture(scope="session")
def e5() -> Embedder:
    """The embedder that ships, loaded once for all tests."""
    adapter = pytest.importorskip("ebbing.adapters.embedders.e5")
    loaded: Embedder = adapter.E5Embedder.load(threads=1)
    return loaded


def opened(path: Path, embedder: Embedder | None, clock: ManualClock) -> Memory:
    settings = load_settings({"path": path, "embedder": "none"})
    return Memory(components=build(settings, embedder=embedder, clock=clock))


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture(scope="session")
def told(e5: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A person's log in two languages, with many things in it that nobody asks about."""
    with opened(tmp_path_factory.mktemp("store"), e5, ManualClock(START)) as memory:
        said = [{"role": "user", "content": text, "timestamp": START} for text in (*STORY, *NOISE)]
        memory.add(said, user_id="sam", infer=False)
        yield memory


def texts(memory: Memory, question: str, **more: object) -> list[str]:
    return [item["memory"] for item in memory.search(question, user_id="sam", **more)["results"]]


# ── few characters ───────────────────────────────────────────────────────────────────────────────────────────────────

SHORT = [
    ("猫", 0),
    ("琴", 2),
    ("年糕", 0),
    ("西湖", 1),
    ("花生", 4),
    ("滨江", 5),
    ("弹钢琴", 2),
    ("五公里", 1),
    ("的生日", 3),
]


@pytest.mark.slow
@pytest.mark.parametrize(("question", "at"), SHORT)
def test_a_chinese_question_of_a_few_characters_finds_its_memory(told: Memory, question: str, at: int) -> None:
    assert texts(told, question)[0] == STORY[at]


@pytest.mark.parametrize(("question", "at"), SHORT)
@pytest.mark.parametrize("embedder", [None, FakeEmbedder()], ids=["words alone", "fake"])
def test_it_finds_it_without_the_model_too(
    tmp_path: Path, clock: ManualClock, embedder: Embedder | None, question: str, at: int
) -> None:
    with opened(tmp_path, embedder, clock) as memory:
        memory.add([*STORY, *NOISE], user_id="sam", infer=False)
        assert texts(memory, question)[0] == STORY[at]


# ── words and meaning ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize("question", ["ZX-4471", "4471", "zx"])
def test_what_only_its_words_find_is_returned_however_low_its_vector_scores(told: Memory, question: str) -> None:
    [best, *_] = told.search(question, user_id="sam")["results"]
    assert best["memory"] == STORY[11]
    assert best["retriever_scores"]["keyword"] > 0


class Misled(FakeEmbedder):
    """Takes every question for one about the kitchen."""

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self.embed_passages([STORY[9]] * len(texts))


def test_a_keyword_hit_is_returned_though_the_vectors_vote_for_another(tmp_path: Path, clock: ManualClock) -> None:
    with opened(tmp_path, Misled(), clock) as memory:
        memory.add(list(STORY), user_id="sam", infer=False)
        assert set(texts(memory, "花生过敏", top_k=2)) == {STORY[4], STORY[9]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "at"),
    [
        ("What is the name of my cat?", 0),
        ("What am I allergic to?", 4),
        ("When is my mother's birthday?", 3),
        ("Which instrument am I learning?", 2),
        ("我的狗叫什么名字？", 6),
        ("我姐姐是做什么工作的？", 7),
        ("我滑雪的时候哪里骨折了？", 8),
        ("厨房要刷成什么颜色？", 9),
        ("我几点的飞机去多伦多？", 10),
    ],
)
def test_a_question_in_one_language_finds_the_memory_in_the_other(told: Memory, question: str, at: int) -> None:
    assert STORY[at] in texts(told, question, top_k=3)


@pytest.mark.slow
def test_each_answer_says_which_routes_found_it_and_why(told: Memory) -> None:
    [best, *_] = told.search("弹钢琴", user_id="sam", explain=True)["results"]
    assert {"semantic", "keyword"} <= best["retriever_scores"].keys()
    assert "wording" in best["why"]
    assert "meaning" in best["why"]
    assert 0.6 < best["score"] <= 1


@pytest.mark.slow
@pytest.mark.parametrize("question", ["What is the name of my cat?", "我对什么过敏？", "Where does my sister teach?"])
def test_a_precise_question_gets_its_answer_and_hardly_more(told: Memory, question: str) -> None:
    found = texts(told, question, precise=True, top_k=20)
    assert 1 <= len(found) <= 3
    assert not set(found) & set(NOISE)


@pytest.mark.slow
def test_texts_that_differ_in_a_number_word_are_told_apart(e5: Embedder, tmp_path: Path, clock: ManualClock) -> None:
    pairs = [("我有三只猫", "我有两只猫"), ("I run three miles a day", "I run five miles a day")]
    with opened(tmp_path, e5, clock) as memory:
        memory.add([text for pair in pairs for text in pair], user_id="sam", infer=False)
        assert {*pairs[0], *pairs[1]} == set(texts(memory, "猫 miles", top_k=10))


# ── time ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "question", "old", "new"),
    [
        ("我住在杭州", "我搬到成都了，现在住在成都", "我住在哪里？", "杭州", "成都"),
        ("I work at Siemens", "I left Siemens, I now work at Bosch", "Where do I work?", "Siemens", "Bosch"),
    ],
    ids=["zh", "en"],
)
def test_what_was_superseded_is_out_of_the_current_view_and_in_that_of_its_time(
    e5: Embedder, tmp_path: Path, clock: ManualClock, before: str, after: str, question: str, old: str, new: str
) -> None:
    with opened(tmp_path, e5, clock) as memory:
        [known] = memory.add(before, user_id="sam")["results"]
        assert old in known["memory"]
        clock.advance(timedelta(days=30))
        then = clock.now()
        clock.advance(timedelta(days=30))
        memory.add(after, user_id="sam")
        now = texts(memory, question, include="memories")
        assert any(new in text for text in now)
        assert known["memory"] not in now
        past = texts(memory, question, include="memories", as_of=then)
        assert past == [known["memory"]]
        assert not any(new in text for text in past)


@pytest.mark.slow
@pytest.mark.parametrize("question", ["上周三我做了什么？", "What did I do last Wednesday?"])
def test_a_question_that_names_a_day_finds_what_was_said_then(
    e5: Embedder, tmp_path: Path, clock: ManualClock, question: str
) -> None:
    done = ("I went to the pool", "I baked bread", "we saw a film", "I fixed the bike", "I painted the fence")
    done += ("my tooth was pulled", "we hiked to the lake", "I read in the park", "I cooked for Lin", "we played chess")
    with opened(tmp_path, e5, clock) as memory:
        weeks = [{"content": text, "timestamp": START - timedelta(weeks=ago)} for ago, text in enumerate(done, start=1)]
        memory.add(weeks, user_id="sam", infer=False)
        assert done[0] in texts(memory, question, reference_date=START, top_k=2)
