"""Moves stores and brings them up to date, each time in a process of its own that somebody may kill.

Run as `python child_mover.py`. Each line of the input is a JSON list: `["move", SOURCE, TARGET]`,
`["migrate", ADDRESS]` or `["open", DIRECTORY]`. It answers with the number of the process, and with its status when
that has ended. With `"here"` in front, the work is done in this process: what it imports is there from then on.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import NoReturn

import ebbing
from ebbing.adapters.sql.connection.addresses import address_of
from ebbing.adapters.sql.connection.schema import migrate
from ebbing.adapters.sql.moving import store_tables
from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.moving import store_tables as file_tables

PAGE = 50
"""Rows at once: a small store then has as many pages as a large one."""
MOVE = ebbing.move


def work(act: str, *places: str) -> None:
    """Do it."""
    if act == "move":
        assert MOVE(*places).is_equal
    elif act == "migrate":
        migrate(address_of(*places))
    else:
        Connections(Path(*places)).close()


def main() -> None:
    """Do whatever is asked for."""
    for module in (store_tables, file_tables):
        module.PAGE = PAGE  # type: ignore[misc]
    for line in sys.stdin:
        act = json.loads(line)
        if act[0] == "here":
            work(*act[1:])
            print(0, 0, sep="\n", flush=True)
            continue
        process = os.fork()
        if process == 0:
            _end_with(act)
        print(process, flush=True)
        print(os.waitpid(process, 0)[1], flush=True)


def _end_with(act: list[str]) -> NoReturn:
    """Do it and end the process, whatever happens: the parent's loop must not go on here."""
    status = 1
    try:
        work(*act)
        status = 0
    except Exception:  # noqa: BLE001
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    main()
