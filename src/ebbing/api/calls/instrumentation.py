"""Calls that a caller waits for: maintenance lets them go first, and a meter counts them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from ebbing.api.calls.call_context import CallContext
from ebbing.domain.errors import EbbingError
from ebbing.ports.meter import Measure


class Service(Protocol):
    """Part of the API: it holds the context of its calls."""

    _context: CallContext


_Self = TypeVar("_Self", bound=Service)
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_Method = Callable[Concatenate[_Self, _Given], Coroutine[Any, Any, _Result]]


def _done(measure: Measure, answer: Any) -> None:
    measure.done(answer)


def measured(
    operation: str, tell: Callable[[Measure, Any], None] = _done
) -> Callable[[_Method[_Self, _Given, _Result]], _Method[_Self, _Given, _Result]]:
    """Return the method, counted while it runs, so that maintenance lets it go first, and reported to the meter.

    Args:
        tell: reports the result of a call; by default for methods that answer with dicts and lists.
    """

    def wrap(method: _Method[_Self, _Given, _Result]) -> _Method[_Self, _Given, _Result]:
        @wraps(method)
        async def call(self: _Self, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
            meter = self._context.components.meter
            with self._context.components.traffic:
                if not meter.is_on:
                    return await method(self, *args, **kwargs)
                measure = meter.begin(operation)
                try:
                    answer = await method(self, *args, **kwargs)
                except EbbingError as error:
                    measure.failed(error.code)
                    raise
                except BaseException:
                    measure.failed("interrupted")
                    raise
                tell(measure, answer)
                return answer

        return call

    return wrap
