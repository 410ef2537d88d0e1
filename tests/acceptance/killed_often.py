"""Kills a process that moves or migrates a store at random moments, and lets it go on, until it is done."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from select import select
from typing import Self

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, create_engine, text

from ebbing.adapters.sql.connection.addresses import address_of, with_driver
from tests.servers import ADDRESSES

CHILD = Path(__file__).with_name("child_mover.py")
LONGEST_SECONDS = 120.0


class Mover:
    """Lets work be done by processes that can be killed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._child = subprocess.Popen(
            [sys.executable, str(CHILD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.communicate()

    def warm_up(self, *act: str) -> None:
        """Do the work once without killing anything, so that all is imported."""
        assert self._done(("here", *act), LONGEST_SECONDS)

    def seconds_of(self, *act: str) -> float:
        """How long the work takes that nobody kills."""
        begun = time.monotonic()
        assert self._done(act, LONGEST_SECONDS), "it takes too long"
        return time.monotonic() - begun

    def killed(self, *act: str, within: float) -> bool:
        """Kill the work at a random moment (SIGKILL); False where it was done before."""
        return not self._done(act, self._chance.uniform(0, within))

    def killed_until_done(self, *act: str, within: float, at_most: int = 1_000) -> int:
        """Kill the work again and again until it is done, so many times at most; how often it was killed."""
        kills = 0
        while kills < at_most and self.killed(*act, within=within):
            kills += 1
        if kills == at_most:
            self.seconds_of(*act)
        return kills

    def _done(self, act: Sequence[str], seconds: float) -> bool:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(json.dumps(act).encode() + b"\n")
        process = int(self._child.stdout.readline())
        is_ended, _, _ = select([self._child.stdout], [], [], seconds)
        if not is_ended:
            assert process, "nobody kills this one"
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(int(self._child.stdout.readline()))
        assert status in {0, -signal.SIGKILL}, f"{act} ended with {status}"
        return status == 0


@contextmanager
def connected(address: str) -> Iterator[Connection]:
    """A connection that commits each statement."""
    engine = create_engine(with_driver(address_of(address), blocking=True), isolation_level="AUTOCOMMIT")
    with engine.connect() as db:
        yield db
    engine.dispose()


@contextmanager
def empty_database(server: str, name: str) -> Iterator[str]:
    """The address of a database of its own."""
    with connected(ADDRESSES[server]) as db:
        db.execute(text(f"DROP DATABASE IF EXISTS {name}"))
        db.execute(text(f"CREATE DATABASE {name}"))
    yield address_of(ADDRESSES[server]).set(database=name).render_as_string(hide_password=False)
    with connected(ADDRESSES[server]) as db:
        db.execute(text(f"DROP DATABASE {name}{_force(db)}"))


def drop_tables(address: str) -> None:
    """Empty a database."""
    with connected(address) as db:
        for table in db.dialect.get_table_names(db):  # type: ignore[no-untyped-call]
            db.execute(text(f"DROP TABLE {db.dialect.identifier_preparer.quote(table)}"))


def downgrade(address: str, layout: str) -> None:
    """Bring the tables back to an older layout."""
    config = Config()
    config.set_main_option("script_location", "ebbing.adapters.sql:migrations")
    with connected(address) as db:
        config.attributes["connection"] = db
        command.downgrade(config, layout)


def _force(db: Connection) -> str:
    """A process that was killed a moment ago may still have a session."""
    return " WITH (FORCE)" if db.dialect.name == "postgresql" else ""
