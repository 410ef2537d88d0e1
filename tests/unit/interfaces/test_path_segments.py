"""Ids of any characters come through a path, each as the segment that it was sent as."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

from hypothesis import example, given
from hypothesis import strategies as st

from ebbing.interfaces.http.schema.operations import split_by_literal_slashes

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@example(names=["a/b", "%2F", "a%2Fb/"])
@given(names=st.lists(NAMES, min_size=1, max_size=4))
def test_encoded_slashes_never_part_a_path(names: list[str]) -> None:
    raw = "/" + "/".join(quote(name, safe="") for name in names)
    scope: dict[str, Any] = {"raw_path": raw.encode(), "path": unquote(raw)}
    split_by_literal_slashes(scope)
    assert [part.replace("\udc2f", "/") for part in scope["path"].split("/")[1:]] == names
