"""What the refusal of a memory server means: one of the errors that the library itself raises."""

from __future__ import annotations

from typing import Any, Final

import httpx

from ebbing.domain.errors import (
    BlockedContentError,
    ConflictError,
    EbbingError,
    InvalidInputError,
    MemoryNotFoundError,
    MemoryServerError,
    MissingOwnerError,
    NotFoundError,
    ServerUnavailableError,
    TooLargeError,
    UnauthorizedError,
)

_MAX_DETAIL: Final = 300
_KINDS: Final[dict[str, type[EbbingError]]] = {
    kind.code: kind
    for kind in (
        BlockedContentError,
        ConflictError,
        InvalidInputError,
        MemoryNotFoundError,
        MissingOwnerError,
        NotFoundError,
        TooLargeError,
        UnauthorizedError,
    )
}
_BY_STATUS: Final[dict[int, type[EbbingError]]] = {
    400: InvalidInputError,
    401: UnauthorizedError,
    403: UnauthorizedError,
    404: MemoryNotFoundError,
    409: ConflictError,
    413: TooLargeError,
    422: InvalidInputError,
}


def refusal(response: httpx.Response) -> EbbingError:
    """The error that an answer of 400 and above stands for: by the code that the server names, else by its status."""
    try:
        body = response.json()
    except ValueError:
        body = None
    detail = _detail(body) or f"the memory server answered {response.status_code}"
    if response.status_code in {408, 425, 429} or response.status_code >= 500:
        return ServerUnavailableError(detail)
    code = body.get("code") if isinstance(body, dict) else None
    by_code = _KINDS.get(code) if isinstance(code, str) else None
    return (by_code or _BY_STATUS.get(response.status_code, MemoryServerError))(detail)


def _detail(body: Any) -> str:
    """Return what happened and what to do, in the server's words: ours hold no person's text."""
    if not isinstance(body, dict):
        return ""
    words = [body.get(name) for name in ("detail", "hint")]
    words = [word for word in words if isinstance(word, str)] or [body.get(name) for name in ("message", "error")]
    return "; ".join(word for word in words if isinstance(word, str) and word)[:_MAX_DETAIL]
