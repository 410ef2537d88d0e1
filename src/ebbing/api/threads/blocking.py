"""Parts of the API for code that does not await: the same methods, each returning when it is done."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial, update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

_Service = TypeVar("_Service")
_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")


class Run(Protocol):
    """Runs a coroutine to its end on the memory's loop."""

    def __call__(self, call: Callable[[], Coroutine[Any, Any, _Answer]], /) -> _Answer:
        """Return what it returns, or raise what it raises."""
        ...


class Blocking(Generic[_Service]):
    """A service whose methods return when they are done."""

    def __init__(self, service: _Service, run: Run) -> None:
        self._service, self._run = service, run


def blocking(
    method: Callable[Concatenate[_Service, _Arguments], Coroutine[Any, Any, _Answer]],
) -> Callable[Concatenate[Blocking[_Service], _Arguments], _Answer]:
    """Return the method with the same arguments and documentation, to be called without `await`."""

    def call(self: Blocking[_Service], /, *args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Answer:
        return self._run(partial(method, self._service, *args, **kwargs))

    update_wrapper(call, method)
    return call
