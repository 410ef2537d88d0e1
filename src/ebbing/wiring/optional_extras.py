"""Doors whose packages are optional: found when they are opened, so that nothing else loads or needs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ebbing.domain.errors import MissingExtraError, StoreNotFoundError

if TYPE_CHECKING:
    from ebbing.wiring.build import Components
    from ebbing.wiring.config.settings import Settings

_OF_SERVER: Final = frozenset({"fastapi", "starlette", "uvicorn"})
_OF_MCP: Final = frozenset({"mcp", "mcp_types"})


def bring_back(backup: Path, path: Path | None) -> Path:
    """Make a store of a copy, at `path` or where the settings say; return where.

    Raises:
        InvalidInputError: the copy is none, is damaged, or a store is there already.
        StoreError: it could not be written.
    """
    from ebbing.adapters.sqlite.admin.backup import bring_back as placed
    from ebbing.wiring.build import load_settings

    settings = load_settings({} if path is None else {"path": path})
    placed(backup, settings.path)
    return settings.path


def migrate_store(path: Path | None) -> tuple[str | None, str | None, str]:
    """Bring the tables of a store on a server to the layout of this version, and their policies to the settings.

    Returns:
        The layouts before and after, and where the store is; of the embedded store, which does this whenever it is
        opened, neither layout.

    Raises:
        StoreNotFoundError: there is no embedded store in this directory.
        SchemaError: they are of a newer version, or another program's.
        StoreError: the server cannot be reached, or refuses.
    """
    from ebbing.wiring.build import load_settings, missing_drivers

    settings = load_settings({} if path is None else {"path": path})
    if settings.address is None:
        if store_is_missing(settings):
            raise _no_store(settings)
        return None, None, settings.place
    try:
        from ebbing.adapters.sql.connection.addresses import address_of
        from ebbing.adapters.sql.connection.schema import migrate
    except ModuleNotFoundError as error:
        raise missing_drivers(settings.address) from error
    return *migrate(address_of(settings.address), row_security=settings.store_row_security), settings.place


def open_components(options: Mapping[str, Any], *, make_store: bool) -> tuple[Components, Path | None]:
    """Open the components of the memory that settings and environment name.

    Args:
        make_store: make the store if there is none; a call that only reads leaves the disk as it is.

    Returns:
        The components, and the directory of its store if that was made just now.

    Raises:
        StoreNotFoundError: there is no store, and none may be made.
        ConfigurationError: a value does not fit.
        StoreError: the store cannot be opened.
    """
    from ebbing.wiring.build import build, load_settings

    settings = load_settings(options)
    is_missing = store_is_missing(settings)
    if is_missing and not make_store:
        raise _no_store(settings)
    return build(settings), settings.path if is_missing else None


def _no_store(settings: Settings) -> StoreNotFoundError:
    return StoreNotFoundError(
        f"there is no store in {settings.path}: check --path and EBBING_PATH"
        " (`ebbing add` or `ebbing import` makes a new store)"
    )


def store_is_missing(settings: Settings) -> bool:
    """Return whether opening the store would make a new file."""
    from ebbing.adapters.sqlite.connection.connections import FILE_NAME

    return settings.store == "sqlite" and not settings.path.is_file() and not (settings.path / FILE_NAME).exists()


def settings_for(options: Mapping[str, Any]) -> Settings:
    """Return settings from the environment, with what is given on top.

    Raises:
        ConfigurationError: a value does not fit.
    """
    from ebbing.wiring.build import load_settings

    return load_settings(options)


def serve_http(settings: Settings, *, started: Callable[..., None]) -> None:
    """Serve over HTTP until it is stopped; see `ebbing.interfaces.http.serve.serve`.

    Args:
        started: called with the service's address, and `is_open`, once it answers.

    Raises:
        MissingExtraError: the packages of the extra `server` are not installed.
        ConfigurationError: it would listen beyond this machine without asking for credentials, or cannot listen.
        StoreError: the store cannot be opened.
    """
    _door("http.serve", packages=_OF_SERVER, extra="server").serve(settings, started=started)


def serve_mcp(settings: Settings) -> None:
    """Serve one person over standard input and output; see `ebbing.interfaces.mcp.stdio.serve`.

    Raises:
        MissingExtraError: the packages of the extra `mcp` are not installed.
        StoreError: the store cannot be opened.
    """
    _door("mcp.stdio", packages=_OF_MCP, extra="mcp").serve(settings)


def mcp_endpoint(sender_of: Callable[..., Any], *, tool_set: str, max_body_bytes: int) -> Any:
    """Return the application for `/mcp`; see `ebbing.interfaces.mcp.over_http.McpEndpoint`.

    Raises:
        MissingExtraError: the packages of the extra `mcp` are not installed.
    """
    door = _door("mcp.over_http", packages=_OF_MCP, extra="mcp")
    return door.McpEndpoint(sender_of, tool_set=tool_set, max_body_bytes=max_body_bytes)


def yaml_parser() -> Any:
    """Return PyYAML, which says where each part of a text stands.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        return import_module("yaml")
    except ModuleNotFoundError as error:
        raise MissingExtraError("to edit YAML, PyYAML must be installed: pip install 'ebbing[mcp]'") from error


def connect_host(
    host: str, *, user: str, path: Path, tools: str | None, with_hooks: bool, dry_run: bool
) -> tuple[list[tuple[Path, str, Path | None]], str]:
    """Write a host's configuration; see `ebbing.interfaces.connect.run.connect`.

    Raises:
        ConfigurationError: a file cannot be edited or written.
    """
    door = import_module("ebbing.interfaces.connect.run")
    changes: tuple[list[tuple[Path, str, Path | None]], str] = door.connect(
        host, user=user, path=path, tools=tools, with_hooks=with_hooks, dry_run=dry_run
    )
    return changes


def disconnect_host(host: str, *, dry_run: bool) -> tuple[list[tuple[Path, str, Path | None]], str]:
    """Take our entries out of a host's configuration; see `ebbing.interfaces.connect.run.disconnect`.

    Raises:
        ConfigurationError: a file cannot be edited or written.
    """
    door = import_module("ebbing.interfaces.connect.run")
    changes: tuple[list[tuple[Path, str, Path | None]], str] = door.disconnect(host, dry_run=dry_run)
    return changes


def _door(name: str, *, packages: frozenset[str], extra: str) -> Any:
    """Import a door by its name: the composition root opens it, and yet depends on nothing in it."""
    try:
        return import_module(f"ebbing.interfaces.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in packages:
            raise
        raise MissingExtraError(f"this needs packages that are not installed: pip install 'ebbing[{extra}]'") from error
