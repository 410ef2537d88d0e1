"""Images and other parts of messages that are no text: never dropped without a word, by whichever way they come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ebbing import Memory
from ebbing.domain.errors import InvalidInputError
from ebbing.remember.intake.parse_messages import omitted_parts
from tests.interfaces.http.service import service

PICTURE = {"type": "image_url", "image_url": {"url": "https://example.org/cake.png"}}
TALK = [
    {"role": "user", "content": [{"type": "text", "text": "I live in Leeds."}, PICTURE, PICTURE]},
    {"role": "assistant", "content": "Nice."},
    {"role": "user", "content": {"type": "input_audio", "input_audio": {"data": "UklGRg=="}}},
]
OMITTED = [{"message": 0, "parts": {"image": 2}}, {"message": 2, "parts": {"audio": 1}}]


def test_the_library_says_which_parts_it_left_out(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder="none") as memory:
        for infer in (True, False):
            assert memory.add(TALK, user_id="emma", infer=infer)["omitted_parts"] == OMITTED
        assert memory.enqueue_add(TALK, user_id="emma")["omitted_parts"] == OMITTED
        assert "omitted_parts" not in memory.add("I live in Leeds.", user_id="emma")
        with pytest.raises(InvalidInputError, match="only images or other parts"):
            memory.add({"role": "user", "content": [PICTURE]}, user_id="emma")


@pytest.mark.anyio
@pytest.mark.parametrize("route", ["/v1/memories", "/v3/memories/add/", "/v1/memories/", "/memories"])
async def test_every_route_that_adds_says_which_parts_it_left_out(route: str) -> None:
    body = {"user_id": "emma", "messages": TALK, **({} if route == "/v1/memories" else {"output_format": "v1.1"})}
    async with service(worker=True) as client:
        answer = await client.post(route, json=body)
        assert (answer.status_code, answer.json().get("omitted_parts")) == (200, OMITTED)
        if route == "/v1/memories":
            later = await client.post(route, json=body, headers={"prefer": "respond-async"})
            assert (later.status_code, later.json()["omitted_parts"]) == (202, OMITTED)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("only words", {}),
        ([{"type": "text", "text": "words"}], {}),
        ([{"type": "file", "file": {}}, {"type": "pdf_url"}, {"type": "mdx_url"}], {"file": 3}),
        ([{"type": "video_url"}, {"type": "Emma's secret"}, {}], {"video": 1, "other": 2}),
        (None, {}),
    ],
)
def test_a_part_is_counted_by_its_kind_and_its_type_is_not_repeated(content: Any, parts: dict[str, int]) -> None:
    message = {"role": "user", "content": content}
    assert omitted_parts(message) == ([{"message": 0, "parts": parts}] if parts else [])
    assert omitted_parts({**message, "content": "x", "images": ["a", "b"]}) == [{"message": 0, "parts": {"image": 2}}]
