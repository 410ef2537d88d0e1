"""Doors whose packages are optional: found when they are opened, so that nothing else loads or needs them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from ebbing.domain.errors import MissingExtraError

_OF_SERVER: Final = frozenset({"fastapi", "starlette", "uvicorn", "jwt", "prometheus_client"})


def http_service() -> Callable[..., None]:
    """What starts the service over HTTP; see `ebbing.interfaces.http.serve.serve`.

    Raises:
        MissingExtraError: the packages of the extra `server` are not installed.
    """
    try:
        serve: Any = import_module("ebbing.interfaces.http.serve").serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _OF_SERVER:
            raise
        raise MissingExtraError(
            "the service needs packages that are not installed: pip install 'ebbing[server]'"
        ) from error
    return serve  # type: ignore[no-any-return]
