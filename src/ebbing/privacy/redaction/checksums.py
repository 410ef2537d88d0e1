"""Is this run of characters what it looks like? Check digits and plausibility of found candidates.

Every check takes a candidate (separators included) and returns how many of its leading characters are the real thing,
0 if none are: a card number may be followed by its security code, an IBAN by the next word. What is kept always ends
where a group of letters and digits ends.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from types import MappingProxyType
from typing import Final

_GROUP: Final = re.compile(r"[0-9A-Za-z]++")
_NO_DIGIT: Final = re.compile(r"[^0-9]+")

_ID_WEIGHTS: Final = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_ID_REGION: Final = re.compile(r"1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[1-3]|91")
_ID_BIRTH_YEARS: Final = range(1850, 2100)

# Number ranges and lengths of the card schemes (ISO/IEC 7812 issuers), so that a long order number which happens to
# pass Luhn, as one in ten does, is seldom taken for a card.
_CARD: Final = re.compile(
    r"""4(?:\d{15}|\d{18})                                        # Visa
    |   5[1-5]\d{14}                                              # Mastercard
    |   2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}         # Mastercard, second range
    |   3[47]\d{13}                                               # American Express
    |   3(?:0[0-59]\d|[689]\d\d)\d{10}                            # Diners Club
    |   35(?:2[89]|[3-8]\d)\d{12}                                 # JCB
    |   6(?:011|5\d\d|4[4-9]\d)\d{12}                             # Discover
    |   62\d{14,17}                                               # UnionPay
    |   (?:9558|60[13]\d)\d{15}                                   # Chinese debit cards older than UnionPay
    |   220[0-4]\d{12}                                            # Mir
    |   (?:5018|5020|5038|5893|6304|6759|676[1-3])\d{12,15}       # Maestro""",
    re.VERBOSE,
)

_CARD_FIRST: Final = frozenset("234569")

# Lengths of the IBAN registry (ISO 13616, SWIFT), grouped to stay short.
_IBAN_LENGTHS: Final[Mapping[str, int]] = MappingProxyType(
    {
        country: length
        for length, countries in {
            15: "NO",
            16: "BE",
            18: "DK FI FO GL NL SD",
            19: "MK SI",
            20: "AT BA EE KZ LT LU MN XK",
            21: "CH HR LI LV",
            22: "BG BH CR DE GB GE IE ME RS VA",
            23: "AE GI IL IQ OM SO TL",
            24: "AD CZ ES MD PK RO SA SE SK TN VG",
            25: "LY PT ST",
            26: "IS TR",
            27: "BI DJ FR GR IT MC MR SM",
            28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
            29: "BR EG PS QA UA",
            30: "JO KW MU YE",
            31: "MT SC",
            32: "LC",
            33: "RU",
        }.items()
        for country in countries.split()
    }
)

_DATE_FOLLOWS: Final = re.compile(r"[ ]+(?=(?:19|20)\d\d[-./]\d)")
_DATE: Final = re.compile(r"(?:19|20)\d\d[-. ]?(?:0?[1-9]|1[0-2])[-. ]?(?:0?[1-9]|[12]\d|3[01])(?:\D+\d{1,2})?")
_YEARS: Final = re.compile(r"(?:(?:19|20)\d\d\D+)+(?:19|20)\d\d")

_IDENTIFIERS: Final = re.compile(r"[A-Za-z_]\w{0,24}(?:\.[A-Za-z_]\w{0,24})+", re.ASCII)
_PLACEHOLDER: Final = re.compile(r"your|placeholder|change_?me|dummy|redacted|(.)\1{4}", re.IGNORECASE)
_CODE: Final = re.compile(r"[A-Za-z_$][\w.$]*[(\[{]|\$\{|%[sd(]|\$[A-Z_]+$|[{<\[(]|-+$|\.\.", re.ASCII)
_LENGTH_RULE: Final = re.compile(r"\d{1,3}(?:-\d{1,3})?\+?-?(?:char|digit|letter|word|\+|$)|\d{1,2}-\d{1,3}$", re.I)


def luhn(digits: str) -> bool:
    """True if a string of digits ends in its Luhn check digit (ISO/IEC 7812-1, annex B)."""
    odd = sum(map(int, digits[-1::-2]))
    even = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (odd + even) % 10 == 0


def bank_card(candidate: str) -> int:
    """A payment card: number range and length of a scheme, and Luhn."""
    if candidate[0] not in _CARD_FIRST:
        return 0
    for end, digits in _leading_groups(candidate, at_least=14):
        if _CARD.fullmatch(digits) and luhn(digits):
            return end
    return 0


def id_card(candidate: str) -> int:
    """A Chinese resident identity number of 18 characters (GB 11643-1999: region, birthday, MOD 11-2)."""
    if not _ID_REGION.match(candidate):
        return 0
    for end, number in _leading_groups(candidate, at_least=18):
        if len(number) == 18 and _is_resident_number(number.upper()):
            return end
    return 0


def _is_resident_number(number: str) -> bool:
    if not number[:17].isdigit():
        return False
    year, month, day = int(number[6:10]), int(number[10:12]), int(number[12:14])
    try:
        date(year, month, day)
    except ValueError:
        return False
    total = sum(weight * int(digit) for weight, digit in zip(_ID_WEIGHTS, number, strict=False))
    return year in _ID_BIRTH_YEARS and number[17] == "10X98765432"[total % 11]


def iban(candidate: str) -> int:
    """An international bank account number: length of its country, and MOD 97-10 (ISO 13616-1)."""
    for end, account in _leading_groups(candidate, at_least=15):
        number = account.upper()
        if len(number) == _IBAN_LENGTHS.get(number[:2]):
            rearranged = "".join(str(int(char, 36)) for char in number[4:] + number[:4])
            if int(rearranged) % 97 == 1:
                return end
    return 0


def phone(candidate: str) -> int:
    """A telephone number: 7 to 15 digits (ITU-T E.164) that are no date, no list of years and no round sum."""
    number = _DATE_FOLLOWS.split(candidate, maxsplit=1)[0]
    digits = _NO_DIGIT.sub("", number)
    is_other = _DATE.fullmatch(number) or _YEARS.fullmatch(number) or digits.endswith("00000")
    if not 7 <= len(digits) <= 15 or is_other or len(set(digits)) == 1:
        return 0
    return len(number.rstrip(" .-("))


def ip_address(candidate: str) -> int:
    """An IPv4 or IPv6 address as the standard library reads it."""
    is_short = "::" in candidate and any(char.isdigit() for char in candidate)  # and not the `a::b` of a program
    if "." not in candidate and not is_short and candidate.count(":") != 7:
        return 0
    try:
        ipaddress.ip_address(candidate)
    except ValueError:
        return 0
    return len(candidate)


def token(candidate: str) -> int:
    """A key with a known prefix: random enough to be real (a digit, or a long unbroken run), not `sk-xxxx`."""
    random = len(set(candidate)) >= 8
    unbroken = any(char.isdigit() for char in candidate) or max(map(len, re.split(r"[-_.]", candidate))) >= 20
    return len(candidate) if random and unbroken else 0


def secret(candidate: str) -> int:
    """The value of something called a key or a token: letters and digits, no name from a program, no placeholder."""
    stripped = candidate.rstrip(".=-/")
    mixed = any(char.isdigit() for char in stripped) and any(char.isalpha() for char in stripped)
    if not mixed or len(set(stripped)) < 6 or _IDENTIFIERS.fullmatch(stripped) or _PLACEHOLDER.search(stripped):
        return 0
    return len(candidate)


def mixed_password(candidate: str) -> int:
    """A password that shows itself: it holds a digit or a special sign, and is neither code nor a rule of length."""
    stripped = candidate.rstrip(".?:")
    if len(stripped) < 3 or _is_code(stripped) or not re.search(r"[0-9!@#$%^&*+=~]", stripped):
        return 0
    return len(stripped)


def plain_password(candidate: str) -> int:
    """A password that may be an ordinary word: whatever is not code."""
    stripped = candidate.rstrip(".?:")
    return 0 if len(stripped) < 3 or _is_code(stripped) else len(stripped)


def _is_code(value: str) -> bool:
    return bool(_CODE.match(value) or _IDENTIFIERS.fullmatch(value) or _LENGTH_RULE.match(value))


def _leading_groups(candidate: str, *, at_least: int) -> Iterator[tuple[int, str]]:
    """Where each group of letters and digits ends, last first, with everything up to there but the separators; only
    while that is long enough."""
    spans = [match.span() for match in _GROUP.finditer(candidate)]
    bare = "".join([candidate[begin:end] for begin, end in spans])
    length = len(bare)
    for begin, end in reversed(spans):
        if length < at_least:
            return
        yield end, bare[:length]
        length -= end - begin


Check = Callable[[str], int]

CHECKS: Final[Mapping[str, Check]] = MappingProxyType(
    {
        check.__name__: check
        for check in (bank_card, id_card, iban, ip_address, mixed_password, phone, plain_password, secret, token)
    }
)
"""The checks that a pattern can name."""
