"""The documents of a file: itself, or the chats of an archive. What holds no chats is named for what it is."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import BinaryIO, Final, cast

from ebbing.domain.errors import InvalidInputError, TooLargeError
from ebbing.transfer.charset import text_lines
from ebbing.transfer.imported_turn import Unreadable

MAX_UNPACKED_BYTES: Final = 2 << 30
_CHATS: Final = "conversations"
"""How the files of an archive begin that hold its chats, as ChatGPT names them."""
_ZIP: Final = b"PK\x03\x04"
_SIGNATURES: Final = (
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"SQLite format 3\0", "a SQLite database; `--path` names the directory of a store"),
    (b"\x1f\x8b", "compressed by gzip; unpack it first"),
    (b"BZh", "compressed by bzip2; unpack it first"),
    (b"\xfd7zXZ", "compressed by xz; unpack it first"),
    (b"7z\xbc\xaf", "a 7z archive; unpack it first"),
    (b"Rar!", "a RAR archive; unpack it first"),
)
_OFFICE: Final = frozenset({"word", "xl", "ppt", "META-INF"})

Lines = Iterator[str | Unreadable]


def documents(stream: BinaryIO, *, encoding: str | None = None) -> Iterator[Lines]:
    """The lines of each document in a seekable stream: of the file itself, or of the chats in a zip archive.

    Raises:
        InvalidInputError: it is empty, no text, or an archive without chats; the message says what it is.
        TooLargeError: an archive that unpacks to more than 2 GiB.
    """
    head = stream.read(4_096)
    stream.seek(0)
    if not head.strip():
        raise InvalidInputError("the file is empty: export the chats again, or copy the whole file")
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            raise InvalidInputError(f"the file is {kind}, and no chat export")
    if head.startswith(_ZIP):
        yield from _of_archive(stream, encoding)
    else:
        yield text_lines(stream, encoding=encoding)


def _of_archive(stream: BinaryIO, encoding: str | None) -> Iterator[Lines]:
    try:
        with zipfile.ZipFile(stream) as archive:
            for member in _chats(archive):
                with archive.open(member) as unpacked:
                    yield text_lines(cast(BinaryIO, unpacked), encoding=encoding)
    except (zipfile.BadZipFile, EOFError):
        raise InvalidInputError("the zip archive is cut or damaged: copy or download it again") from None
    except (RuntimeError, NotImplementedError):  # what `zipfile` raises for encryption and foreign compression
        raise InvalidInputError("the zip archive is encrypted or packed in an unknown way: unpack it first") from None


def _chats(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """`conversations.json`, or its parts; else the only JSON file there is."""
    files = [member for member in archive.infolist() if not member.is_dir()]
    if _OFFICE & {PurePosixPath(member.filename).parts[0] for member in files}:
        raise InvalidInputError("the file is an office document or a program, and no chat export")
    in_json = [member for member in files if member.filename.lower().endswith((".json", ".jsonl"))]
    chats = [member for member in in_json if PurePosixPath(member.filename).name.lower().startswith(_CHATS)]
    chosen = sorted(chats, key=lambda member: member.filename) or in_json
    if not chats and len(in_json) != 1:
        raise InvalidInputError(
            f"the zip archive holds no conversations.json among its {len(files)} files:"
            " unpack it, and import the file with the chats"
        )
    if sum(member.file_size for member in chosen) > MAX_UNPACKED_BYTES:
        raise TooLargeError("the zip archive unpacks to more than 2 GiB: unpack it, and import its parts")
    return chosen
