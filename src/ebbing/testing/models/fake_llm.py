"""A language model that says what it is told to: an OpenAI-compatible server on this machine, with every fault.

>>> from ebbing.testing.models.fake_llm import FakeLlm, Rule
>>> with FakeLlm([Rule("peanuts", {"facts": []})]) as llm:
...     llm.url.startswith("http://127.0.0.1:")
True
"""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, Self

from ebbing.testing.models.fake_llm_script import NOTHING, Fault, Rule, answer_text

__all__ = ["FakeLlm", "Fault", "Rule"]
_PIECE: Final = 12
"""Characters of one event of a streamed answer."""


@dataclass(slots=True)
class _Reply:
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None


class FakeLlm:
    """Serves `/v1/chat/completions` (streamed or whole) and `/v1/models` on 127.0.0.1.

    Args:
        rules: what is answered; the first whose pattern is found in the prompt counts. Without one that fits, the
            answer says that there is nothing to remember.
        port: 0 for any free one.
        api_key: asked for where given; another or none gets status 401.
        refuses: names of request fields, or of types of `response_format`, that get status 400.
        retry_after: seconds that a `rate_limit` asks for.
        hang_seconds: how long `hang` keeps silent.

    `requests` holds the bodies that came in, `keys` their authorisation.
    """

    def __init__(
        self,
        rules: Sequence[Rule] = (),
        *,
        port: int = 0,
        api_key: str | None = None,
        refuses: Sequence[str] = (),
        retry_after: int = 1,
        hang_seconds: float = 30.0,
    ) -> None:
        self.rules = list(rules)
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self._left = {id(rule): rule.times for rule in rules if rule.times is not None}
        self._api_key = api_key
        self._refuses = frozenset(refuses)
        self._retry_after = retry_after
        self._hang_seconds = hang_seconds
        self._released = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), partial(_Handler, self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def serve_forever(self) -> None:
        """Serves in this thread until it is interrupted."""
        try:
            self._server.serve_forever(0.2)
        finally:
            self._server.server_close()

    def add(self, *rules: Rule) -> None:
        """Rules that come before those that are there."""
        with self._lock:
            self.rules[:0] = rules
            self._left.update({id(rule): rule.times for rule in rules if rule.times is not None})

    def reply(self, request: dict[str, Any], key: str | None) -> _Reply | Fault:
        """What one request gets; `RESET` and `HANG` are left to the connection."""
        with self._lock:
            self.requests.append(request)
            self.keys.append(key)
            if self._api_key is not None and key != f"Bearer {self._api_key}":
                return _Reply(401, body={"error": {"message": "invalid api key", "code": "401"}})
            refused = self._refused(request)
            if refused:
                return _Reply(400, body={"error": {"message": f"{refused} is not supported", "code": "400"}})
            rule = self._rule_for(request)
        match rule.fault:
            case Fault.RESET | Fault.HANG:
                return rule.fault
            case Fault.RATE_LIMIT:
                return _Reply(429, {"Retry-After": str(self._retry_after)}, {"error": {"message": "slow down"}})
            case Fault.ERROR:
                return _Reply(500, body={"error": {"message": "internal error"}})
            case Fault.NOT_CHAT:
                return _Reply(200, {"Content-Type": "text/html"}, "<html>it works</html>")
        text = answer_text(rule, request)
        return _Reply(body=_completion(request, text, finish="length" if rule.fault is Fault.TRUNCATED else "stop"))

    def hang(self) -> None:
        """Keeps silent until its time is over or the server stops."""
        self._released.wait(self._hang_seconds)

    def _refused(self, request: dict[str, Any]) -> str | None:
        bound = (request.get("response_format") or {}).get("type")
        named = [name for name in (bound, *request) if name in self._refuses]
        return named[0] if named else None

    def _rule_for(self, request: dict[str, Any]) -> Rule:
        prompt = "\n".join(_text(message.get("content")) for message in request.get("messages", ()))
        for rule in self.rules:
            left = self._left.get(id(rule), 1)
            if left > 0 and re.search(rule.when, prompt, re.IGNORECASE | re.DOTALL):
                if id(rule) in self._left:
                    self._left[id(rule)] = left - 1
                return rule
        return NOTHING

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


def _completion(request: dict[str, Any], text: str, *, finish: str) -> dict[str, Any]:
    characters = sum(len(_text(message.get("content"))) for message in request.get("messages", ()))
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 0,
        "model": request.get("model", "fake"),
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": characters // 4, "completion_tokens": len(text) // 4, "total_tokens": 0},
    }


def _events(completion: dict[str, Any]) -> bytes:
    """The completion as server-sent events."""
    choice = completion["choices"][0]
    text, finish = choice["message"]["content"], choice["finish_reason"]
    pieces = [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]
    deltas: list[tuple[dict[str, str], str | None]] = [({"role": "assistant", "content": ""}, None)]
    deltas += [({"content": piece}, None) for piece in pieces]
    deltas.append(({}, finish))
    head = {name: completion[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    chunks = [{**head, "choices": [{"index": 0, "delta": d, "finish_reason": end}]} for d, end in deltas]
    lines = [*(json.dumps(chunk, ensure_ascii=False) for chunk in chunks), "[DONE]"]
    return "".join(f"data: {line}\n\n" for line in lines).encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, llm: FakeLlm, *connection: Any) -> None:
        self._llm = llm
        super().__init__(*connection)

    def do_GET(self) -> None:
        is_models = self.path.endswith("/models")
        self._send(_Reply(200 if is_models else 404, body={"object": "list", "data": [{"id": "fake"}]}))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            request = json.loads(body)
        except ValueError:
            self._send(_Reply(400, body={"error": {"message": "the body is not JSON"}}))
            return
        if not self.path.endswith("/chat/completions") or not isinstance(request, dict):
            self._send(_Reply(404, body={"error": {"message": "no such route"}}))
            return
        reply = self._llm.reply(request, self.headers.get("Authorization"))
        if reply is Fault.HANG:
            self._llm.hang()
            self.close_connection = True
        elif isinstance(reply, Fault):
            self._reset()
        else:
            self._send(reply, stream=bool(request.get("stream")))

    def _send(self, reply: _Reply, *, stream: bool = False) -> None:
        body, kind = reply.body, "application/json"
        if stream and reply.status == 200 and isinstance(body, dict):
            payload, kind = _events(body), "text/event-stream"
        else:
            payload = body.encode() if isinstance(body, str) else json.dumps(body, ensure_ascii=False).encode()
        headers = {"Content-Type": kind, **reply.headers, "Content-Length": str(len(payload))}
        try:
            self.send_response(reply.status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(payload)
        except OSError:
            self.close_connection = True

    def _reset(self) -> None:
        """Ends the connection as a crashing server does, so that the client sees a reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""
