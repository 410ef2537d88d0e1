"""What every command shares: whose memory, where it lies, how to answer, and opening and closing it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

import ebbing
from ebbing.domain.errors import MissingOwnerError
from ebbing.interfaces.cli.output import Screen
from ebbing.wiring.optional_extras import open_components

if TYPE_CHECKING:
    from ebbing.sync import Memory

User = Annotated[str | None, typer.Option("--user", "-u", help="Whose memory; EBBING_USER if not given.")]
Agent = Annotated[str | None, typer.Option("--agent", help="Only what belongs to this agent.")]
Run = Annotated[str | None, typer.Option("--run", help="Only what belongs to this conversation.")]
Store = Annotated[
    Path | None,
    typer.Option(
        "--path", help="Directory of the memory, or address of a database; EBBING_PATH or ./ebbing-data else."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Answer with JSON on stdout, and nothing else.")]

_SHARED: Final = {"user": (User, None), "path": (Store, None), "as_json": (Json, False)}
_SCOPED: Final = {"agent": (Agent, None), "run": (Run, None)}

_COMPARED_NAMES: Final = 10_000
"""Names that a mistyped one is compared with."""


@dataclass(frozen=True, slots=True)
class Session:
    """One command at work."""

    memory: Memory
    screen: Screen
    named_user: str | None
    """From `--user`."""
    usual_user: str | None
    """From the settings, for when nobody is named."""
    agent: str | None = None
    run: str | None = None

    @property
    def user(self) -> str | None:
        """Whose memory the command is about."""
        return self.named_user or self.usual_user

    def owner_ids(self, owner: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The owner, as the façade's arguments. What the command names wins over what a file has `told`, and that over
        the settings.

        Raises:
            MissingOwnerError: nobody was named.
        """
        owner = owner or {}
        ids = {
            "user_id": self.named_user or owner.get("user_id") or self.usual_user,
            "agent_id": self.agent or owner.get("agent_id"),
            "run_id": self.run or owner.get("run_id"),
        }
        if not (ids["user_id"] or self.agent or self.run or owner.get("agent_id")):
            raise MissingOwnerError("whose memory? Give --user NAME, or set EBBING_USER")
        return ids

    def owner_missing(self) -> str | None:
        """That nothing is stored of the owner, with names that look like theirs; None where something is."""
        scope = {"user": self.user, "agent": self.agent, "run": self.run}
        kind, name = next((item for item in scope.items() if item[1]), ("user", None))
        owners = self.memory.maintenance.list_owners()
        if name is None or {"kind": kind, "name": name.strip()} in owners:
            return None
        names = [owner["name"] for owner in owners if owner["kind"] == kind][:_COMPARED_NAMES]
        close = get_close_matches(name, names, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else "check --user, EBBING_USER and --path"
        return f"Nothing is stored of {kind} {name} in {self.memory.components.settings.place}: {hint}"


def command(
    app: typer.Typer, name: str, *, scoped: bool = False, about_somebody: bool = True, makes_store: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Registers a function as a command that gets an open `Session` and, beside its own options, the shared ones.

    Args:
        scoped: the command works on a whole scope, so `--agent` and `--run` narrow it.
        about_somebody: it works on one user's memory, so `--user` says whose.
        makes_store: it may begin a store where there is none; every other command refuses.
    """
    shared = {**_SHARED, **(_SCOPED if scoped else {})}
    if not about_somebody:
        del shared["user"]

    def register(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def run(**arguments: Any) -> None:
            options = {option: arguments.pop(option) for option in shared}
            with opened(**options, makes_store=makes_store) as session:
                function(session, **arguments)

        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters = [
            *(item.replace(kind=keyword) for item in own),
            *(
                inspect.Parameter(option, keyword, annotation=annotation, default=default)
                for option, (annotation, default) in shared.items()
            ),
        ]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        del run.__wrapped__
        return app.command(name)(run)

    return register


@contextmanager
def opened(
    *,
    path: Path | None,
    as_json: bool,
    user: str | None = None,
    agent: str | None = None,
    run: str | None = None,
    makes_store: bool = False,
) -> Iterator[Session]:
    """The session of a command; closes the memory however the command ends."""
    arguments: dict[str, Any] = {"api_version": "v1.1"}
    if path is not None:
        arguments["path"] = path
    components, new_store = open_components(arguments, make_store=makes_store)
    with ebbing.Memory(components=components) as memory:
        screen = Screen(as_json=as_json)
        if new_store is not None:
            screen.note(f"made a new store in {new_store.absolute()}")
        yield Session(memory, screen, user, components.settings.user, agent=agent, run=run)
