"""How the bytes of a file become text: strictly, and never by a guess that could be wrong.

The standard library decides by strict decoding; a detector such as charset-normalizer always names some encoding, also
where a short text leaves it open. A text in the wrong encoding would become a wrong memory, so doubt is an error here.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import BinaryIO, Final

from ebbing.domain.errors import InvalidInputError
from ebbing.transfer.imported_turn import Unreadable

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LEGACY: Final = ("gb18030", "big5hkscs")
_SAMPLE_BYTES: Final = 65_536
_MIN_COMMON_SHARE: Final = 0.2
"""Least share of common characters among the Chinese ones. In running text they are two fifths; in text that is read in
a wrong encoding they are one in thirty."""
_COMMON: Final = frozenset(
    "的一是不了在人有我他这個个們们中来來上大为為和国國地到以说說时時要就出会會可也你对對生能而子那得于著着下自之年过過"
    "发發后後作里裡用道行所然家种種事成方多经經么麼去法学學如都同现現当當没沒动動面起看定天分还還进進好小部其些主样樣理心她"
    "本前开開但因只从從想实實吃喝爱愛吗嗎呢吧啊很再给給"
)
_HELP: Final = "save the file as UTF-8, or name its encoding with --encoding"


def text_lines(stream: BinaryIO, *, encoding: str | None = None) -> Iterator[str | Unreadable]:
    """The lines of a seekable stream as text; in a file of UTF-8 a damaged line becomes `Unreadable`.

    Args:
        encoding: the file's, if the caller knows it; else UTF-8, UTF-16, UTF-32, GB18030 or Big5 are recognised.

    Raises:
        InvalidInputError: no encoding fits, the file holds no text, or it breaks off within a character.
    """
    name = _checked_name(encoding) if encoding else encoding_of(stream)
    stream.seek(0)
    if name in {"utf-8", "utf-8-sig"}:
        return _utf8_lines(stream)
    return iter(_decoded(stream.read(), name).splitlines(keepends=True))


def encoding_of(stream: BinaryIO) -> str:
    """The encoding that the whole stream can be read in.

    Raises:
        InvalidInputError: as `text_lines`.
    """
    head = stream.read(_SAMPLE_BYTES)
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    if b"\0" in head:
        return _wide_encoding(head)
    stream.seek(0)
    beyond_ascii, damaged, last = 0, 0, b""
    for line in stream:
        last = line
        if not line.isascii():
            beyond_ascii += 1
            damaged += not _is_utf8(line)
    if not damaged:
        return "utf-8"
    if breaks_off(last) and damaged == 1:
        raise InvalidInputError("the file breaks off within a character: it was cut; copy or download it again")
    if 2 * damaged <= beyond_ascii:
        return "utf-8"  # some lines are damaged; they are named one by one
    stream.seek(0)
    return _legacy_encoding(stream.read())


def breaks_off(line: bytes) -> bool:
    """Whether UTF-8 ends within a character."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return False


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _utf8_lines(stream: BinaryIO) -> Iterator[str | Unreadable]:
    for number, line in enumerate(stream, 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            yield Unreadable(number, "it holds bytes that are not UTF-8")


def _wide_encoding(head: bytes) -> str:
    """UTF-16 without a mark: every NUL is the upper half of an ASCII character, so all stand at one parity."""
    parities = frozenset(place % 2 for place, byte in enumerate(head) if byte == 0)
    name = {frozenset({0}): "utf-16-be", frozenset({1}): "utf-16-le"}.get(parities)
    whole = head[: len(head) // 2 * 2]
    try:
        text = whole.decode(name) if name else ""
    except UnicodeDecodeError:
        text = ""
    if name is None or not text.strip() or not _is_plain(text):
        raise InvalidInputError("the file is binary and no chat export: name the JSON file that the export wrote")
    return name


def _is_plain(text: str) -> bool:
    return all(char >= " " or char in "\t\r\n\f" for char in text)


def _legacy_encoding(content: bytes) -> str:
    shares: dict[str, float] = {}
    for name in _LEGACY:
        try:
            shares[name] = _common_share(content.decode(name))
        except UnicodeDecodeError:
            continue
    best = max(shares, key=shares.__getitem__, default=None)
    if best is None or shares[best] < _MIN_COMMON_SHARE:
        raise InvalidInputError(f"the file is not UTF-8, and its encoding is not certain: {_HELP}")
    return best


def _common_share(text: str) -> float:
    """Share of the everyday Chinese characters among all that are not ASCII, punctuation left out."""
    foreign = [char for char in text if char > "\u007f" and char.isalpha()]
    return sum(char in _COMMON for char in foreign) / len(foreign) if foreign else 0.0


def _checked_name(encoding: str) -> str:
    try:
        "".encode(encoding)
        return codecs.lookup(encoding).name
    except LookupError:
        raise InvalidInputError("unknown encoding: use a name such as gb18030, big5, shift_jis or cp1252") from None


def _decoded(content: bytes, name: str) -> str:
    try:
        text = content.decode(name)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InvalidInputError(f"line {line} cannot be read as {name}: {_HELP}") from None
    return text.removeprefix("\ufeff")
