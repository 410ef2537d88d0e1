"""The memory behind a running service, reached with the standard library alone."""

from __future__ import annotations

import http.client
import json
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

from ebbing.wiring.config.hook_settings import HookSettings

_DONE: Final = frozenset({200, 201, 202})
_REFUSED: Final = frozenset({400, 413, 422})
_OF_MESSAGES: Final = frozenset({"invalid_input", "too_large", "blocked_content"})


class ServiceUnreachableError(Exception):
    """No service took the request. Its text holds no word of the conversation."""


class _RefusedError(ServiceUnreachableError):
    """The service may not store a message of these."""


class ServiceMemory:
    """What hooks ask of a service."""

    def __init__(self, address: str, settings: HookSettings) -> None:
        self._address, self._settings = urlsplit(address), settings

    def recall(self, options: dict[str, Any]) -> str:
        """Return a block about the person; `options` are those of `get_context`.

        Raises:
            ServiceUnreachableError: it could not be asked.
        """
        answer = self._post("/v1/context", {**self._owner(), **options}, seconds=self._settings.recall_seconds)
        return str(answer.get("context") or "")

    def remember(self, messages: list[dict[str, Any]], session: str) -> None:
        """Hand over messages, each with its id; the service reads them beside other requests.

        One that it refuses is left out, so that it does not keep the others from being stored.

        Raises:
            ServiceUnreachableError: it did not take them.
        """
        try:
            self._hand_over(messages, session)
        except _RefusedError:
            for message in messages:
                with suppress(_RefusedError):
                    self._hand_over([message], session)

    def _hand_over(self, messages: list[dict[str, Any]], session: str) -> None:
        body = {**self._owner(), "run_id": session, "messages": messages}
        self._post("/v1/memories", body, seconds=self._settings.remember_seconds)

    def _owner(self) -> dict[str, str]:
        return {"user_id": self._settings.user} if self._settings.user else {}

    def _post(self, path: str, body: dict[str, Any], *, seconds: float) -> dict[str, Any]:
        is_secure = self._address.scheme == "https"
        connect = http.client.HTTPSConnection if is_secure else http.client.HTTPConnection
        headers = {"Content-Type": "application/json", "Prefer": "respond-async"}
        if self._settings.api_key:
            headers["Authorization"] = f"Bearer {self._settings.api_key}"
        connection = connect(self._address.hostname or "", self._address.port, timeout=seconds)
        try:
            target = self._address.path.rstrip("/") + path
            connection.request("POST", target, body=json.dumps(body).encode(), headers=headers)
            response = connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise ServiceUnreachableError(f"the service did not answer ({type(error).__name__})") from None
        finally:
            connection.close()
        if response.status in _REFUSED and _is_about_the_messages(answer):
            raise _RefusedError(f"the service answered {response.status}")
        if response.status not in _DONE:
            raise ServiceUnreachableError(f"the service answered {response.status}")
        try:
            data = json.loads(answer)
        except ValueError:
            raise ServiceUnreachableError("the service did not answer with JSON") from None
        return data if isinstance(data, dict) else {}


def _is_about_the_messages(answer: bytes) -> bool:
    """Return whether a refusal is for what was sent, and not for who sent it."""
    try:
        problem = json.loads(answer)
    except ValueError:
        return False
    return isinstance(problem, dict) and problem.get("code") in _OF_MESSAGES
