"""Where the store is: a directory, or the address of a database server."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

import pytest

from ebbing.domain.errors import ConfigurationError, MissingExtraError, StoreError
from ebbing.interfaces.cli.commands.store.backups import migrate
from ebbing.privacy.addresses import without_password
from ebbing.sync import Memory
from ebbing.wiring.build import build, load_settings
from ebbing.wiring.config.settings import Settings
from ebbing.wiring.config.store_place import address_in
from ebbing.wiring.diagnose import _shown
from ebbing.wiring.store_tables import is_same_place

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


FORMS = (
    "{}://ada:s3cret@127.0.0.1:9/0",
    "{}://127.0.0.1:9/0?user=ada&password=s3cret",
    "{}://ada:a/s3cret@127.0.0.1:9/0",
)
ADDRESS_SETTINGS = sorted(name for name in Settings.model_fields if name == "store" or name.endswith("_url"))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ADDRESS_SETTINGS)
def test_no_setting_that_holds_an_address_shows_its_password(name: str, form: str) -> None:
    scheme = {"store": "postgresql", "redis_url": "redis"}.get(name, "https")
    if name == "redis_url":
        form = FORMS[0]  # it takes no other
    settings = load_settings({name: form.format(scheme)})
    assert "s3cret" not in f"{settings} {settings!r} {settings.place} {_shown(settings)}"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("server", ["postgresql", "mysql", "mariadb+pymysql"])
def test_an_error_of_the_store_shows_no_password(server: str, form: str) -> None:
    with pytest.raises(StoreError, match="cannot be reached") as error:
        Memory(form.format(server))
    assert "s3cret" not in "".join(traceback.format_exception(error.value))


@pytest.mark.parametrize("address", ["{}://ada:s3cret\u2100@h", "{}://ada@h:s3cret", "{}://ada:[s3cret@h"])
@pytest.mark.parametrize(("name", "scheme"), [("graph_url", "bolt"), ("llm_base_url", "https")])
def test_an_address_that_cannot_be_read_is_not_repeated(
    name: str, scheme: str, address: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = load_settings({name: address.format(scheme), "llm_model": "m", "path": tmp_path, "embedder": "none"})
    try:
        written = str(_shown(build(settings).settings))
    except ConfigurationError as error:
        written = "".join(traceback.format_exception(error))
    assert "s3cret" not in written + caplog.text


def test_places_that_are_shown_alike_are_still_told_apart() -> None:
    place, other = (f"postgresql://ada:s3?cret@{host}/memories" for host in ("here", "there"))
    assert without_password(place) == without_password(other)
    assert not is_same_place(place, other)
    assert is_same_place(place, place.replace("cret", "cret2"))


def test_a_password_with_an_at_sign_is_refused_with_what_to_write() -> None:
    with pytest.raises(ConfigurationError, match="%40") as error:
        Memory("postgresql://ada:a@s3cret@127.0.0.1:9/memories")
    assert "s3cret" not in str(error.value)


@pytest.mark.parametrize("address", [f"{ADDRESS}\n", ADDRESS.replace("postgresql", "PostgreSQL")])
def test_an_address_is_not_taken_for_a_directory(address: str) -> None:
    assert load_settings({"path": address}).address == ADDRESS


@pytest.mark.parametrize("store", ["ephemeral", ADDRESS])
def test_a_history_file_is_refused_beside_a_store_that_keeps_its_own(store: str, tmp_path: Path) -> None:
    settings = load_settings({"store": store, "history_path": tmp_path / "history.db", "embedder": "none"})
    with pytest.raises(ConfigurationError, match=r"EBBING_HISTORY_PATH .* leave it out") as error:
        build(settings)
    assert "s3cret" not in str(error.value)


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
