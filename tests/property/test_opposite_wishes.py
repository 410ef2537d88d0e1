"""A wish and its opposite are never the same: what was asked for and is not wanted any more is closed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.sync import Memory
from ebbing.wiring.build import build, load_settings

WISHES = ("用表情", "用英文", "列清单", "说粤语", "叫我棠总", "喊我老板", "跟我讲笑话")
HEADS = ("以后回答", "以后", "以后都")


def kept_after(*messages: str) -> list[str]:
    with Memory(components=build(load_settings({"store": "ephemeral"}), embedder="none")) as memory:
        for message in messages:
            memory.add([{"role": "user", "content": message}, {"role": "assistant", "content": "好"}], user_id="u")
        return [item["memory"] for item in memory.get_all(user_id="u")["results"]]


@given(st.sampled_from(HEADS), st.sampled_from(WISHES), st.booleans())
def test_what_is_asked_for_after_its_opposite_is_never_known_already(head: str, wish: str, is_denied: bool) -> None:
    plain, denied = f"{head}{wish}", f"{head}别{wish}"
    first, second = (denied, plain) if is_denied else (plain, denied)
    before, after = kept_after(first), kept_after(first, second)
    if before and kept_after(second):
        assert after != before


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        ("以后叫我棠总", "哎 别叫我棠总了 听着像骗子", "用户要求:不要称呼其为棠总"),
        ("以后别叫我棠总", "以后叫我棠总", "用户要求:称呼其为棠总"),
        ("以后回答用表情", "以后回答别用表情了", "用户要求:以后回答别用表情了"),
        ("以后回答别用表情", "以后回答用表情", "用户要求:以后回答用表情"),
    ],
)
def test_the_later_of_two_opposite_wishes_is_left(first: str, second: str, left: str) -> None:
    assert kept_after(first, second) == [left]


@pytest.mark.parametrize("wish", ["以后别叫我早起", "以后不要叫我去加班", "以后别喊我吃饭了"])
def test_who_wants_not_to_be_called_away_names_no_form_of_address(wish: str) -> None:
    assert not any("称呼" in memory for memory in kept_after(wish))


@pytest.mark.parametrize("text", ["简单点", "简短些", "帮她写个简历 简单点", "媳妇找工作 帮她写个简历 简单点 孟雪"])
def test_what_is_wanted_of_one_piece_of_work_is_no_wish_for_good(text: str) -> None:
    assert not any("以后" in memory for memory in kept_after(text))
