"""An OpenAI-compatible endpoint for tests: a real HTTP server whose answers are scripted by the name of the model."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODELS = b'{"object": "list",  "data": [{"id": "echo", "object": "model", "created": 1, "owned_by": "tests"}]}'
_ERROR = {"message": "You exceeded your quota – 你好", "type": "insufficient_quota", "param": None, "code": "quota"}
REFUSAL = json.dumps({"error": _ERROR}, ensure_ascii=False).encode()
TOOL_CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city": "Leeds"}'},
}


@dataclass
class Call:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of a chat."""
        messages: list[dict[str, Any]] = json.loads(self.body)["messages"]
        return messages


@dataclass
class Endpoint:
    """A running endpoint."""

    url: str
    calls: list[Call] = field(default_factory=list)
    """Chats, in the order in which they came."""
    answers: dict[str, str] = field(default_factory=dict)
    """By what the user asks, which the text begins with; anything else is answered with `Noted.`"""
    abandoned: threading.Event = field(default_factory=threading.Event)
    """Set when somebody left in the middle of a stream."""

    def answer_to(self, call: Call) -> str:
        """What the model says."""
        last = next(message for message in reversed(call.messages) if message["role"] == "user")
        content = last["content"]
        text = content if isinstance(content, str) else next(part["text"] for part in content if "text" in part)
        return next((answer for question, answer in self.answers.items() if text.startswith(question)), "Noted.")


def chunk_of(delta: dict[str, Any], finish: str | None = None) -> bytes:
    """A piece of a stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    whole = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], "x": 1.50}
    return b"data: " + json.dumps(whole, ensure_ascii=False).encode() + b"\n\n"


def completion_of(message: dict[str, Any], finish: str = "stop") -> bytes:
    """A whole answer, with spaces and fields of its own."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    whole = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    return json.dumps({**whole, "x_own": [1.50, None]}, indent=1, ensure_ascii=False).encode()


class Handler(BaseHTTPRequestHandler):
    """Answers by script."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    endpoint: Endpoint

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """List the models."""
        self.endpoint.calls.append(Call(self.path, self._headers(), b""))
        self._whole(200, MODELS)

    def do_POST(self) -> None:
        """Answer a chat."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        call = Call(self.path, self._headers(), body)
        self.endpoint.calls.append(call)
        try:
            asked = json.loads(body)
        except ValueError:
            asked = {}
        script = getattr(
            self,
            f"_{asked.get('model', 'refuse') if isinstance(asked, dict) else 'refuse'}".replace("-", "_"),
            self._echo,
        )
        with suppress(BrokenPipeError, ConnectionResetError):
            script(call, is_stream="stream" in asked and asked["stream"] is True)

    def _headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def _echo(self, call: Call, *, is_stream: bool) -> None:
        text = self.endpoint.answer_to(call)
        if not is_stream:
            self._whole(200, completion_of({"content": text}))
            return
        pieces = [chunk_of({"role": "assistant", "content": ""}), *(chunk_of({"content": letter}) for letter in text)]
        self._stream([b": a comment\n\n", *pieces, chunk_of({}, "stop"), b"data: [DONE]\n\n"])

    def _thinks(self, call: Call, *, is_stream: bool) -> None:
        self._whole(200, completion_of({"content": "<think>They like me.</think>\n\nHello!"}))

    def _lingers(self, call: Call, *, is_stream: bool) -> None:
        self._stream([chunk_of({"content": "Noted."}), b"data: [DONE]\n\n"], ends=False)
        threading.Event().wait(0.5)

    def _tools(self, call: Call, *, is_stream: bool) -> None:
        if call.messages[-1]["role"] == "tool":
            self._echo(call, is_stream=is_stream)
        elif is_stream:
            begin = {"index": 0, "id": "call_1", "type": "function"}
            first = {**begin, "function": {"name": "get_weather", "arguments": ""}}
            rest = [{"index": 0, "function": {"arguments": part}} for part in ('{"city": ', '"Leeds"}')]
            deltas = [
                {"role": "assistant", "content": None, "tool_calls": [first]},
                *({"tool_calls": [one]} for one in rest),
            ]
            self._stream([*map(chunk_of, deltas), chunk_of({}, "tool_calls"), b"data: [DONE]\n\n"])
        else:
            self._whole(200, completion_of({"content": None, "tool_calls": [TOOL_CALL]}, "tool_calls"))

    def _refuse(self, call: Call, *, is_stream: bool) -> None:
        headers = {"retry-after-ms": "1", "x-ratelimit-remaining-requests": "0", "x-request-id": "req_of_endpoint"}
        self._whole(429, REFUSAL, **headers)

    def _breaks(self, call: Call, *, is_stream: bool) -> None:
        self._stream([chunk_of({"content": "I was about to"})], ends=False)

    def _fails_midway(self, call: Call, *, is_stream: bool) -> None:
        error = b"data: " + REFUSAL + b"\n\n"
        self._stream([chunk_of({"content": "I was about to"}), error, b"data: [DONE]\n\n"])

    def _fails_at_once(self, call: Call, *, is_stream: bool) -> None:
        error = b"data: " + REFUSAL + b"\n\n"
        self._stream([b": wait\n\n", error]) if is_stream else self._whole(200, REFUSAL)

    def _ends_early(self, call: Call, *, is_stream: bool) -> None:
        """Send no length and no end: what came is all that there is, or the connection was cut."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(chunk_of({"content": "I was about to"}))
        self.close_connection = True

    def _long(self, call: Call, *, is_stream: bool) -> None:
        """Send a short text in very many bytes, and a line that is long, cut where no character ends."""
        padding = chunk_of({"reasoning_content": "你" * 300_000})
        pieces = [padding[at : at + 65_521] for at in range(0, len(padding), 65_521)] * 10
        self._stream([*pieces, chunk_of({"content": "Noted."}), chunk_of({}, "stop"), b"data: [DONE]\n\n"])

    def _gzipped(self, call: Call, *, is_stream: bool) -> None:
        body = gzip.compress(completion_of({"content": "Noted."}), mtime=0)
        self._whole(200, body, **{"content-encoding": "gzip"})

    def _odd_headers(self, call: Call, *, is_stream: bool) -> None:
        headers = {"connection": "x-hop, keep-alive", "x-hop": "1", "x-ebbing-memory": "used", "x-ebbing-user": "bob"}
        self._whole(200, completion_of({"content": "Noted."}), **headers)

    def _two_choices(self, call: Call, *, is_stream: bool) -> None:
        choices = [
            {"index": place, "delta": {"content": text}, "finish_reason": None}
            for text in ("No", "ted.")
            for place in (1, 0)
        ]
        pieces = [b"data: " + json.dumps({"choices": [choice]}).encode() + b"\r\n\r\n" for choice in choices]
        self._stream([*pieces, b'data: {"choices": [], "usage": {}}\n\n', b"data: [DONE]\n\n"])

    def _endless(self, call: Call, *, is_stream: bool) -> None:
        self._begin_stream()
        try:
            for _ in range(2_000):
                self._piece(chunk_of({"content": "and "}))
                threading.Event().wait(0.005)
        except OSError:
            self.endpoint.abandoned.set()
        self.close_connection = True

    def _whole(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"content-type": "application/json", "x-served-by": "tests", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def _piece(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _stream(self, pieces: list[bytes], *, ends: bool = True) -> None:
        self._begin_stream()
        for piece in pieces:
            self._piece(piece)
        if ends:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away."""


@contextmanager
def scripted_endpoint() -> Iterator[Endpoint]:
    """An endpoint on a free port of this machine."""
    endpoint = Endpoint("")
    server = _Server(("127.0.0.1", 0), type("Bound", (Handler,), {"endpoint": endpoint}))
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
