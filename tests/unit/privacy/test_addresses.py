"""What people may see of an address: the place, and nothing that opens it."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ebbing.privacy.addresses import without_password

SCHEMES = (
    *("postgresql", "postgres", "postgresql+psycopg", "mysql", "mysql+pymysql", "mariadb"),
    *("redis", "rediss", "http", "https", "bolt", "bolt+s", "neo4j", "neo4j+s", "tcp"),
)
SECRETS = (
    *("password", "PASSWORD", "passwd", "pass%77ord", "pwd", "sslpassword", "sslkey", "ssl_key", "passfile", "token"),
    *("api_key", "api-key", "auth", "secret", "credentials", "options", "service"),
)
SERVERS = ("h/d", "h:5432/d", "h1:1,h2:2/d", "[::1]:5432/d", "%2Fvar%2Frun/d", "h", "/d")
TEXTS = st.text(min_size=1) | st.text("@:/?#%&=;+[] ab2", min_size=1) | st.from_regex(r"(%[0-9a-f]{2}){1,3}")


@st.composite
def addresses(draw: st.DrawFn) -> tuple[str, str]:
    """Return the password of an address, as the address has it, and the address with a gap in its place."""
    password = draw(TEXTS)
    written = draw(st.sampled_from((password, quote(password, safe=""))))
    scheme, server = draw(st.sampled_from(SCHEMES)), draw(st.sampled_from(SERVERS))
    if draw(st.booleans()):
        tail = draw(st.sampled_from(("", "?sslmode=require", "?user=ada")))
        return written, f"{scheme}://{draw(st.sampled_from(('', 'ada')))}:\0@{server}{tail}"
    head = draw(st.sampled_from(("", "user=ada&", "sslmode=require&")))
    tail = draw(st.sampled_from(("", "&charset=utf8mb4", "#part")))
    return written, f"{scheme}://{server}?{head}{draw(st.sampled_from(SECRETS))}=\0{tail}"


@given(addresses())
def test_no_password_is_ever_in_an_address_that_is_shown(example: tuple[str, str]) -> None:
    password, gapped = example
    assume(password not in without_password(gapped.replace("\0", "\1")))
    assert password not in without_password(gapped.replace("\0", password))


@given(addresses(), st.data())
def test_no_half_of_a_password_with_signs_in_it_is_shown(example: tuple[str, str], data: st.DataObject) -> None:
    _, gapped = example
    password = f"first7{data.draw(st.sampled_from('@:/?#%&=; '))}second8"
    shown = without_password(gapped.replace("\0", password))
    assert "first7" not in shown
    assert "second8" not in shown


@given(st.text())
def test_any_text_can_be_shown(text: str) -> None:
    assert without_password(without_password(text))


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://ada:secret99@h:5432/d", "postgresql://ada:***@h:5432/d"),
        ("postgresql:/ada:secret99@h/d", "postgresql://ada:***@h/d"),
        ("postgresql://ada@h/d", "postgresql://ada@h/d"),
        ("mysql://h/d", "mysql://h/d"),
        ("postgresql:///d?host=/tmp", "postgresql:///d?host=/tmp"),
        ("postgresql://ada:se/cret99@h/d", "postgresql://ada:***@h/d"),
        ("postgresql://ada:se@cret99@h/d", "postgresql://ada:***@h/d"),
        ("postgresql://ada:se#cret99@h/d", "postgresql://ada:***@h/d"),
        ("postgresql://ada:se?cret99@h/d", "postgresql://***"),
        ("postgresql://h/d?user=a&password=secret99", "postgresql://h/d?user=a&***"),
        ("mysql://h/d?passwd=se&user=cret99", "mysql://h/d?***"),
        ("postgresql://h/d?password=se@cret99", "postgresql://***"),
        ("postgresql://h/d?sslmode=require;password=secret99", "postgresql://h/d?***"),
        ("postgresql://ada%3Asecret99@h/d", "postgresql://ada:***@h/d"),
        ("postgresql://ada:secret99", "postgresql://***"),
        ("redis://:secret99@h:6379/0", "redis://h:6379/0"),
        ("https://secret99@h:6333/v1/secret99?key=secret99", "https://h:6333"),
        ("https://h/v1/se@cret99", "https://***"),
        ("bolt://ada:secret99@h:7687", "bolt://h:7687"),
        ("host=h password=secret99", "***"),
        ("ada:secret99@h/d", "***"),
        ("", "***"),
    ],
)
def test_the_password_of_an_address_is_masked_wherever_it_stands(address: str, shown: str) -> None:
    assert without_password(address) == shown
