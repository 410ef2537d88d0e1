"""`ebbing identities …` as whoever runs a memory meets it."""

from __future__ import annotations

import pytest

from tests.interfaces.cli import Ebbing


@pytest.mark.usefixtures("empty_store")
def test_names_are_resolved_linked_listed_and_forgotten(ebbing: Ebbing) -> None:
    assert "Nobody comes" in ebbing("identities", "list").out
    unified = ebbing("identities", "resolve", "web", "x", "--json").json["user_id"]
    assert unified in ebbing("identities", "resolve", "web", "x").out
    ebbing("identities", "link", "app", "y", "--user", unified)
    assert "first name" in ebbing("identities", "list", "--user", unified).out
    page = ebbing("identities", "list", "-n", "1", "--json").json
    assert [one["channel"] for one in page["identities"]] == ["app"]
    assert "web" in ebbing("identities", "list", "--cursor", page["next_cursor"]).out
    assert "--cursor" in ebbing("identities", "list", "-n", "1").out
    assert ebbing("identities", "unlink", "app", "y", "--json").json == {"unlinked": True}
    assert "nobody" in ebbing("identities", "unlink", "app", "y").out
    assert ebbing("identities", "link", "app", "y").code == 2
    taken = ebbing("identities", "link", "web", "x", "--user", "tom")
    assert (taken.code, "somebody else" in taken.err) == (1, True)


def test_two_users_become_one_and_two_again(ebbing: Ebbing) -> None:
    ebbing("add", "I love jazz", "-u", "ada")
    ebbing("add", "I love rock", "-u", "bob")
    assert "Nobody was merged" in ebbing("identities", "merges").out
    assert "1 memories and 1 messages moved to ada" in ebbing("identities", "merge", "ada", "bob", "--yes").out
    assert "rock" in ebbing("list", "-u", "ada").out
    [merge] = ebbing("identities", "merges", "-u", "bob", "--json").json
    assert "bob → ada" in ebbing("identities", "merges").out
    assert "bob has their own" in ebbing("identities", "unmerge", merge["id"]).out
    assert "rock" in ebbing("list", "-u", "bob").out
    assert "undone" in ebbing("identities", "merges").out
    assert ebbing("identities", "unmerge", merge["id"]).code == 2
    assert ebbing("identities", "merge", "ada", "nobody", "-y").code == 1
