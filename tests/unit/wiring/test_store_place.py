"""Where the store is: a directory, or the address of a database server."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ebbing.domain.errors import ConfigurationError, MissingExtraError, StoreError
from ebbing.interfaces.cli.commands.store.backups import migrate
from ebbing.sync import Memory
from ebbing.wiring.build import build, load_settings
from ebbing.wiring.config.store_place import address_in, without_password
from ebbing.wiring.diagnose import _shown

ADDRESS = "postgresql://ada:s3cret@127.0.0.1:9/memories"


@pytest.mark.parametrize(
    "given",
    [{"store": ADDRESS}, {"path": ADDRESS}, {"path": Path(ADDRESS)}, {"path": ADDRESS.replace("://", ":/")}],
)
def test_an_address_may_stand_where_a_directory_is_usual(given: dict[str, str | Path]) -> None:
    settings = load_settings(given)
    assert (settings.address, settings.place) == (ADDRESS, "postgresql://ada:***@127.0.0.1:9/memories")


def test_a_directory_is_no_address() -> None:
    settings = load_settings({"path": "mysql-data"})
    assert (settings.address, settings.store, settings.place) == (None, "sqlite", "mysql-data")
    assert address_in("C:/memories") is None


@pytest.mark.parametrize("store", ["oracle://ada:s3cret@host/db", "redis", ""])
def test_a_store_of_another_kind_is_refused_without_its_password(store: str) -> None:
    with pytest.raises(ConfigurationError, match=r"postgresql://… or mysql://…") as error:
        load_settings({"store": store})
    assert "s3cret" not in str(error.value)


def test_a_password_is_shown_to_nobody() -> None:
    settings = load_settings({"store": ADDRESS})
    assert "s3cret" not in repr(settings) + str(_shown(settings))
    assert without_password("mysql://host/db") == "mysql://host/db"


@pytest.mark.parametrize("address", [ADDRESS, "mysql://ada:s3cret@127.0.0.1:9/memories"])
def test_a_server_that_does_not_answer_is_told_at_once(address: str) -> None:
    with pytest.raises(StoreError, match="cannot be reached") as error:
        Memory(address)
    assert "s3cret" not in str(error.value)


@pytest.mark.parametrize(("address", "extra"), [(ADDRESS, "postgres"), ("mysql://host/db", "mysql")])
def test_a_missing_package_is_named_by_its_extra(address: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ebbing.adapters.sql", None)
    with pytest.raises(MissingExtraError, match=rf"ebbing\[{extra}\]"):
        build(load_settings({"store": address, "embedder": "none"}))


@pytest.mark.parametrize(
    ("address", "driver", "extra"), [(ADDRESS, "psycopg", "postgres"), ("mysql://host/db", "asyncmy", "mysql")]
)
def test_a_missing_driver_is_named_by_its_extra(
    address: str, driver: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "ebbing.adapters.sql.connection.addresses.find_spec", lambda name: None if name == driver else object()
    )
    with pytest.raises(MissingExtraError, match=rf"ebbing\[{extra}\]"):
        build(load_settings({"store": address, "embedder": "none"}))


def test_the_embedded_store_needs_no_migration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Memory(path=tmp_path).close()
    migrate(path=tmp_path)
    assert "nothing to do" in capsys.readouterr().out


def test_a_migration_of_a_server_that_does_not_answer_says_so() -> None:
    with pytest.raises(StoreError, match="cannot be reached") as error:
        migrate(path=Path(ADDRESS))
    assert "s3cret" not in str(error.value)
