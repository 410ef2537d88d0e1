"""`ebbing graph`: whom and what somebody's memories tell of."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ebbing.domain.errors import MissingOwnerError
from ebbing.interfaces.cli.output import day, dotted
from ebbing.interfaces.cli.session import Session, command


def register(app: typer.Typer) -> None:
    """Adds the command of this module to the app."""
    command(app, "graph")(graph)


def graph(
    session: Session,
    about: Annotated[str | None, typer.Argument(help="Somebody or something, by name or as in 'sister'.")] = None,
    *,
    hops: Annotated[int, typer.Option("--hops", min=0, max=5, help="So many relations away.")] = 1,
    include_ended: Annotated[bool, typer.Option("--include-ended", help="What ended as well.")] = False,
    as_of: Annotated[str | None, typer.Option("--as-of", help="As it was then, ISO 8601.")] = None,
    dot: Annotated[bool, typer.Option("--dot", help="As text for Graphviz.")] = False,
) -> None:
    """Show people, places and things in the memories, and how they belong together."""
    options: dict[str, Any] = {"about": about, "hops": hops, "include_ended": include_ended, "as_of": as_of}
    if dot:
        typer.echo(session.memory.graph_dot(user_id=_user(session), **options), nl=False)
        return
    answer = session.memory.graph(user_id=_user(session), **options)
    if session.screen.emit_if_json(answer):
        return
    names = {entity["id"]: entity["name"] for entity in answer["entities"]}
    for relation in answer["relations"]:
        ended = f"until {day(relation['until'])}" if relation["until"] else None
        ends = (names[relation["subject"]], "bold"), f"  {relation['relation']}  ", (names[relation["object"]], "bold")
        session.screen.say(*ends, ("  " + dotted([f"since {day(relation['since'])}", ended]), "dim"))
    if not answer["relations"]:
        nothing = "Nothing is known of that." if about else "Nothing is known yet."
        session.screen.say(session.owner_missing() or nothing)


def _user(session: Session) -> str:
    if session.user is None:
        raise MissingOwnerError("whose memories? Give --user NAME, or set EBBING_USER")
    return session.user
