"""What a later message ended stands behind that message, and nothing else moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import zip_longest

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ebbing import AsyncMemory
from ebbing.testing.clock import ManualClock
from ebbing.testing.models.change_model import FakeChangeModel
from ebbing.testing.models.embedder import FakeEmbedder
from ebbing.testing.models.reader import FakeReader
from ebbing.wiring.build import build, load_settings
from ebbing.wiring.components.models import reader_slot

pytestmark = pytest.mark.anyio

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
DOSES = (
    "the doctor gave me ramipril, 2.5 mg once a day",
    "so the ramipril goes up to 5 mg from tomorrow",
    "tried something else, it is ramipril 7.5 mg now",
)
RAIN = "it rains on the ramipril factory"


def ends_a_dose(earlier: str, later: str) -> float:
    """Each dose ends those before it."""
    return 0.9 if "mg" in earlier and "mg" in later else 0.0


def answers_by_dose(_question: str, memory: str) -> float:
    return 0.9 if "mg" in memory else 0.05


async def found(
    question: str,
    *,
    notes: Sequence[str] = (*DOSES, RAIN),
    ends: Callable[[str, str], float] = ends_a_dose,
    answer: Callable[[str, str], float] = answers_by_dose,
    is_failing: bool = False,
    has_model: bool = True,
    role: str = "user",
    names: Sequence[str] = (),
    failed: dict[str, str] | None = None,
) -> list[str]:
    """Return what a search finds, best first, of notes of which each was said a week after the one before it.

    Args:
        failed: gets what the answer says of retrievers that failed.
    """
    clock = ManualClock(START)
    components = build(load_settings({"store": "ephemeral"}), embedder=FakeEmbedder(), clock=clock)
    model = FakeChangeModel(ends, is_failing=is_failing) if has_model else None
    slot = reader_slot(components.settings, components.embedder, reader=FakeReader(answer=answer), change_model=model)
    async with AsyncMemory(components=replace(components, reader=slot)) as memory:
        for note, name in zip_longest(notes, names):
            speaker = {"name": name} if name else {}
            await memory.add({"role": role, "content": note, **speaker}, user_id="gareth", infer=False)
            clock.advance(timedelta(days=7))
        answer = await memory.search(question, user_id="gareth", top_k=10)
    if failed is not None:
        failed.update(answer.get("failed_retrievers", {}))
    return [result["memory"] for result in answer["results"]]


async def test_what_ended_the_best_answer_stands_before_it() -> None:
    assert (await found("the doctor gave me ramipril once a day", has_model=False))[0] == DOSES[0]
    assert (await found("the doctor gave me ramipril once a day"))[0] == DOSES[2]


@pytest.mark.parametrize(
    "question",
    [
        "how much ramipril, once a day, did the doctor give me before?",
        "我以前 ramipril once a day 吃多少",
        "what was the first ramipril dose, once a day, that the doctor gave me?",
        "how much ramipril once a day did the doctor give me initially?",
        "my first ramipril dose, once a day, from the doctor",
    ],
)
async def test_a_question_for_what_was_keeps_its_order(question: str) -> None:
    assert await found(question) == await found(question, has_model=False)


@pytest.mark.parametrize(
    "question",
    ["when did the doctor give me ramipril once a day", "which doctor was it that gave me ramipril once a day"],
)
async def test_nothing_changes_what_happened(question: str) -> None:
    assert await found(question) == await found(question, has_model=False)


@pytest.mark.parametrize(("share", "in_present", "anyway"), [(0.3, 0, 0), (0.4, 2, 0), (0.6, 2, 0), (0.7, 2, 2)])
async def test_a_weak_change_counts_where_the_present_is_asked_for(share: float, in_present: int, anyway: int) -> None:
    def perhaps_ends(earlier: str, later: str) -> float:
        return share if ends_a_dose(earlier, later) else 0.0

    assert (await found("the doctor gives me ramipril once a day now", ends=perhaps_ends))[0] == DOSES[in_present]
    assert (await found("the doctor gives me ramipril once a day", ends=perhaps_ends))[0] == DOSES[anyway]


@pytest.mark.parametrize("is_first_long", [True, False])
async def test_a_long_message_is_ended_or_ends_only_where_the_present_is_asked_for(is_first_long: bool) -> None:
    much = ", the week was a long one with much to do at work" * 6
    notes = (DOSES[0] + much, DOSES[2], RAIN) if is_first_long else (DOSES[0], DOSES[2] + much, RAIN)
    assert (await found("the doctor gives me ramipril once a day", notes=notes))[0] == notes[0]
    assert (await found("the doctor gives me ramipril once a day now", notes=notes))[0] == notes[1]


async def test_two_notes_of_some_length_end_each_other() -> None:
    notes = (
        f"{DOSES[0]}, {'and a long walk each day ' * 6}".strip(),
        f"{DOSES[2]}, {'and more walks too ' * 6}".strip(),
    )
    assert (await found("the doctor gives me ramipril once a day", notes=(*notes, RAIN)))[0] == notes[1]


async def test_changes_are_followed_one_after_another() -> None:
    def ends_the_one_before(earlier: str, later: str) -> float:
        pair = (DOSES.index(earlier), DOSES.index(later)) if {earlier, later} <= set(DOSES) else (0, 0)
        return 0.9 if pair in {(0, 1), (1, 2)} else 0.0

    results = await found("the doctor gave me ramipril once a day", ends=ends_the_one_before)
    assert results[0] == DOSES[2]


async def test_what_hardly_answers_ends_nothing() -> None:
    def likes_the_first(_question: str, memory: str) -> float:
        return 0.9 if memory == DOSES[0] else 0.3

    assert (await found("the doctor gave me ramipril once a day", answer=likes_the_first))[0] == DOSES[0]


async def test_what_an_assistant_said_ends_nothing() -> None:
    question = "the doctor gave me ramipril once a day"
    assert await found(question, role="assistant") == await found(question, role="assistant", has_model=False)


async def test_nobodys_words_end_anothers() -> None:
    question, names = "the doctor gave me ramipril once a day", ("Alice", "Bob", "Bob", "Bob")
    assert await found(question, names=names) == await found(question, names=names, has_model=False)
    assert (await found(question, names=("Alice", "Alice", "Bob", "Bob")))[0] == DOSES[1]


async def test_a_model_that_fails_at_the_second_change_moves_nothing() -> None:
    def fails_later(earlier: str, later: str) -> float:
        if earlier == DOSES[1]:
            raise ValueError("the runtime ran out of memory")
        return float(earlier == DOSES[0] and later == DOSES[1])

    question = "the doctor gave me ramipril once a day"
    assert await found(question, ends=fails_later) == await found(question, has_model=False)


async def test_a_model_that_fails_changes_nothing() -> None:
    question = "the doctor gave me ramipril once a day"
    failed: dict[str, str] = {}
    assert await found(question, is_failing=True, failed=failed) == await found(question, has_model=False)
    assert failed == {"reader": "the fake change model was told to fail"}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
async def test_the_same_is_found_and_all_but_the_first_keep_their_order(data: st.DataObject) -> None:
    """Whatever both models say, nothing is lost, and what did not come forward stands as it stood."""
    shares = st.floats(0.0, 1.0)
    texts = (*DOSES, RAIN, "rain again", "ramipril is a word")
    answer = {text: data.draw(shares) for text in texts}
    change = {(earlier, later): data.draw(shares) for earlier in texts for later in texts}
    options = {"notes": texts, "answer": lambda _question, memory: answer[memory]}
    before = await found("how much ramipril", has_model=False, **options)  # type: ignore[arg-type]
    after = await found("how much ramipril", ends=lambda earlier, later: change[earlier, later], **options)  # type: ignore[arg-type]
    assert sorted(after) == sorted(before)
    came_forward = after[: after.index(before[0])]
    assert len(came_forward) <= 2
    assert [text for text in before if text not in came_forward] == after[len(came_forward) :]
    assert all(texts.index(text) > texts.index(before[0]) for text in came_forward), "only what was said later"
