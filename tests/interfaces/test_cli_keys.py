"""`ebbing keys`: made, shown once, listed, revoked, and noted."""

from __future__ import annotations

import pytest

from tests.interfaces.cli import Ebbing


def test_a_key_is_shown_once_and_listed_without_what_it_looks_like(ebbing: Ebbing) -> None:
    made = ebbing("keys", "create", "--role", "read", "--note", "dashboard", "--days", "30", "--json").json
    listed = ebbing("keys", "list").out
    assert made["key"].startswith("ebb_")
    assert made["key"] not in listed
    assert all(word in listed for word in (made["id"], "read", "every user", "dashboard", "until"))
    assert ebbing("keys", "revoke", made["id"]).code == 0
    assert "revoked" in ebbing("keys", "list").out


def test_a_key_may_be_for_one_user_of_another_tenant(ebbing: Ebbing) -> None:
    shown = ebbing("keys", "create", "--user", "emma", "--tenant", "acme").out
    assert all(word in shown for word in ("ebb_", "user emma", "tenant acme", "Authorization: Bearer"))
    assert "no keys yet" in ebbing("keys", "list").out
    [key] = ebbing("keys", "list", "--tenant", "acme", "--json").json
    assert (key["user_id"], key["role"]) == ("emma", "write")


@pytest.mark.usefixtures("empty_store")
def test_a_key_that_is_not_there_cannot_be_revoked(ebbing: Ebbing) -> None:
    failed = ebbing("keys", "revoke", "nothing")
    assert failed.code == 1
    assert "ebbing keys list" in failed.err
