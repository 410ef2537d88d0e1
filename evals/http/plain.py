"""What no service on FastAPI can cost less than: a route that reads the body and returns bytes that are there already.

`python -m evals.http.plain FILE` serves on a free port of this machine, with uvicorn set as `ebbing serve` sets it, and
prints its address. FILE holds a JSON object of bodies and the answers to them. `/plain` returns the bytes; `/usual` is
a route as FastAPI's tutorial writes it: a model of the body, and a dict that FastAPI turns into JSON.
"""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response
from pydantic import BaseModel


class Question(BaseModel):
    """The part of a search's body that is sent here."""

    user_id: str
    query: str


def application(answers: dict[str, str]) -> FastAPI:
    """Both routes over these answers."""
    app = FastAPI()
    encoded = {body.encode(): answer.encode() for body, answer in answers.items()}
    told = {
        (asked["user_id"], asked["query"]): json.loads(answer)
        for asked, answer in ((json.loads(body), answer) for body, answer in answers.items())
    }

    @app.post("/plain")
    async def plain(request: Request) -> Response:
        return Response(encoded[await request.body()], media_type="application/json")

    @app.post("/usual")
    async def usual(question: Question) -> dict[str, Any]:
        answer: dict[str, Any] = told[question.user_id, question.query]
        return answer

    return app


def main(file: Path) -> None:
    """Serves until it is ended."""
    app = application(json.loads(file.read_text("utf-8")))
    listener = socket.create_server(("127.0.0.1", 0), backlog=2_048)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(app, access_log=False, log_config=None, server_header=False, proxy_headers=False)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
