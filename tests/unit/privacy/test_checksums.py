"""The check digits, against published numbers, and the plausibility of what has none."""

from __future__ import annotations

import pytest

from ebbing.privacy.redaction.checksums import (
    bank_card,
    iban,
    id_card,
    luhn,
    mixed_password,
    phone,
    plain_password,
    secret,
    token,
)


@pytest.mark.parametrize(
    "number", ["4111111111111111", "5555555555554444", "378282246310005", "6011111111111117", "3530111333300000"]
)
def test_the_test_numbers_of_the_card_schemes_are_cards(number: str) -> None:
    assert luhn(number)
    assert bank_card(number) == len(number)


@pytest.mark.parametrize("number", ["4111111111111112", "1111111111111117", "41111111111111", "9780306406157"])
def test_a_wrong_check_digit_or_an_unknown_range_is_no_card(number: str) -> None:
    assert bank_card(number) == 0


def test_any_single_wrong_digit_breaks_luhn() -> None:
    number = "4111111111111111"
    wrong = [
        number[:at] + digit + number[at + 1 :] for at in range(16) for digit in "0123456789" if digit != number[at]
    ]
    assert not any(map(luhn, wrong))


def test_a_card_ends_before_its_security_code() -> None:
    assert bank_card("4111 1111 1111 1111 123") == len("4111 1111 1111 1111")


@pytest.mark.parametrize("number", ["11010519491231002X", "440524188001010014"])
def test_the_examples_of_the_standard_are_identity_numbers(number: str) -> None:
    assert id_card(number) == 18


@pytest.mark.parametrize(
    "number",
    [
        "110105194912310021",  # check digit
        "110105194913310021",  # no such month
        "000105194912310020",  # no such region
        "110105174912310020",  # too long ago
    ],
)
def test_a_wrong_digit_date_or_region_is_no_identity_number(number: str) -> None:
    assert id_card(number) == 0


@pytest.mark.parametrize(
    "number",
    [
        "GB29NWBK60161331926819",
        "DE89 3704 0044 0532 0130 00",
        "FR14 2004 1010 0505 0001 3M02 606",
        "NO93 8601 1117 947",
        "MT84 MALT 0110 0001 2345 MTLC AST0 01S",
    ],
)
def test_the_examples_of_the_registry_are_account_numbers(number: str) -> None:
    assert iban(number) == len(number)


@pytest.mark.parametrize("number", ["GB29NWBK60161331926818", "GB29NWBK6016133192681", "ZZ29NWBK60161331926819"])
def test_a_wrong_check_length_or_country_is_no_account_number(number: str) -> None:
    assert iban(number) == 0


def test_an_account_number_ends_before_the_next_word() -> None:
    assert iban("BE68 5390 0754 7034 BIC GKCC") == len("BE68 5390 0754 7034")


@pytest.mark.parametrize("text", ["2024-04-11", "2024-04-11 09", "1999 2003 2008", "15000000000", "1111111", "123456"])
def test_a_date_a_list_of_years_and_a_round_sum_are_no_telephone(text: str) -> None:
    assert phone(text) == 0


def test_a_telephone_ends_before_a_date() -> None:
    assert phone("62345678 2024-05-01") == len("62345678")


@pytest.mark.parametrize(
    ("value", "is_key"),
    [("sk-abc123def456ghi7", True), ("sk-parallel-item-link", False), ("sk-xxxxxxxxxxxxxxxx", False)],
)
def test_a_key_is_told_from_a_name_and_a_placeholder(value: str, *, is_key: bool) -> None:
    assert bool(token(value)) is is_key


@pytest.mark.parametrize(
    ("value", "is_secret"),
    [
        ("abcd1234efgh", True),
        ("data.get_token2", False),
        ("YOUR_API_KEY_1", False),
        ("authentication", False),
        ("12345678", False),
    ],
)
def test_a_secret_is_told_from_code(value: str, *, is_secret: bool) -> None:
    assert bool(secret(value)) is is_secret


@pytest.mark.parametrize(
    ("value", "is_mixed", "is_plain"),
    [
        ("hunter2", True, True),
        ("swordfish", False, True),
        ("request.form", False, False),
        ("hash_password(x", False, False),
        ("${PASSWORD}", False, False),
        ("12-character", False, False),
    ],
)
def test_a_password_is_told_from_code_and_rules(value: str, *, is_mixed: bool, is_plain: bool) -> None:
    assert (bool(mixed_password(value)), bool(plain_password(value))) == (is_mixed, is_plain)
