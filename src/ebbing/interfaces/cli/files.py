"""Files that a command is given: looked at before anything is opened or made."""

from __future__ import annotations

from pathlib import Path

from ebbing.domain.errors import InvalidInputError

STDIN = Path("-")


def readable_file(file: Path | None) -> Path | None:
    """The file, if it can be read; `-` stands for stdin.

    Raises:
        InvalidInputError: it is not there, is a directory, or may not be read.
    """
    if file is None or file == STDIN:
        return file
    try:
        with file.open("rb"):
            return file
    except FileNotFoundError:
        raise InvalidInputError(f"there is no file {file}: check the name and the directory") from None
    except IsADirectoryError:
        raise InvalidInputError(f"{file} is a directory: name the file in it") from None
    except OSError as error:
        raise InvalidInputError(f"{file} cannot be read ({error.strerror}): check its permissions") from None
