"""Commands about who somebody is: `ebbing profile …`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ebbing.domain.errors import InvalidInputError, MissingOwnerError
from ebbing.interfaces.cli.files import readable_file
from ebbing.interfaces.cli.output import dotted
from ebbing.interfaces.cli.session import Session, command

SECTIONS: Final = ("facts", "constraints", "preferences", "dislikes")
_LISTS: Final = frozenset(SECTIONS) - {"facts"}
_SOURCES: Final = {"user": "set by hand", "import": "brought along", "default": "holds for everybody"}


class Language(StrEnum):
    """What a summary or a question is in."""

    ZH = "zh"
    EN = "en"


In = Annotated[Language | None, typer.Option("--language", help="zh or en; that of most of the profile if not given.")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this module to the app."""
    group = typer.Typer(help="Show and correct what is known of somebody in short.", no_args_is_help=True)
    command(group, "show")(show)
    command(group, "set", makes_store=True)(set_value)
    command(group, "unset")(unset)
    command(group, "rebuild")(rebuild)
    command(group, "import", makes_store=True)(import_file)
    command(group, "defaults", makes_store=True)(defaults)
    command(group, "questions")(questions)
    app.add_typer(group, name="profile")


def show(session: Session, *, language: In = None) -> None:
    """Show what is known of somebody: facts, what binds, likes and dislikes."""
    _show(session, session.memory.profiles.get(user_id=_user(session), language=language))


def set_value(
    session: Session,
    key: Annotated[str, typer.Argument(help="home, job, name …; or constraints, preferences, dislikes.")],
    *,
    value: Annotated[list[str], typer.Argument(help="What it is.")],
) -> None:
    """Set a value, or add to a list; it wins over everything that is heard."""
    words = " ".join(value)
    _show(session, session.memory.profiles.update({key: [words] if key in _LISTS else words}, user_id=_user(session)))


def unset(
    session: Session,
    keys: Annotated[list[str], typer.Argument(help="Keys of entries, such as home or preferences.jazz.")],
    *,
    revert: Annotated[bool, typer.Option("--revert", help="Show what the memories say again.")] = False,
    delete_memories: Annotated[
        bool, typer.Option("--delete-memories", help="Delete the memories behind them too.")
    ] = False,
) -> None:
    """Take entries out; they stay out whatever is said, until --revert."""
    if revert and delete_memories:
        raise InvalidInputError("give --revert or --delete-memories, not both")
    profiles, user_id = session.memory.profiles, _user(session)
    if revert:
        _show(session, profiles.update(user_id=user_id, revert=keys))
    else:
        _show(session, profiles.update(user_id=user_id, unset=keys, delete_memories=delete_memories))


def rebuild(session: Session) -> None:
    """Work the profile out anew from all memories; what was set by hand stays."""
    _show(session, session.memory.profiles.rebuild(user_id=_user(session)))


def import_file(
    session: Session,
    file: Annotated[Path, typer.Argument(help="A JSON document; `-` reads it from stdin.", callback=readable_file)],
) -> None:
    """Tell what is known of somebody from elsewhere; it gives way to what they say."""
    done = session.memory.profiles.import_(_read(file), user_id=_user(session))
    if session.screen.as_json:
        session.screen.emit(done)
    else:
        session.screen.say(f"{done['stored']} new, {done['already_stored']} already stored, {done['refused']} refused")


def defaults(
    session: Session,
    file: Annotated[
        Path | None, typer.Argument(help="A JSON document; `-` reads it from stdin.", callback=readable_file)
    ] = None,
    *,
    clear: Annotated[bool, typer.Option("--clear", help="Take back what holds for everybody.")] = False,
) -> None:
    """Say what holds for everybody of whom nothing else is known."""
    if clear == (file is not None):
        raise InvalidInputError("give a file, or --clear, and not both")
    done = session.memory.profiles.set_defaults(None if file is None else _read(file))
    if session.screen.as_json:
        session.screen.emit(done)
    else:
        session.screen.say(f"{done['entries']} entries hold for everybody")


def questions(
    session: Session,
    *,
    language: In = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=50, help="How many at most.")] = 3,
) -> None:
    """Suggest what to ask somebody: the most useful first, and nothing that is known."""
    suggestions = session.memory.profiles.suggest_questions(user_id=_user(session), language=language, limit=limit)
    if session.screen.emit_if_json(suggestions):
        return
    for suggestion in suggestions:
        session.screen.say(suggestion["question"], ("  " + suggestion["about"], "dim"))
    if not suggestions:
        session.screen.say("Nothing is left to ask.")


def _user(session: Session) -> str:
    if session.user is None:
        raise MissingOwnerError("whose profile? Give --user NAME, or set EBBING_USER")
    return session.user


def _read(file: Path) -> Any:
    text = sys.stdin.read() if str(file) == "-" else file.read_text("utf-8")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInputError(f"this is no JSON: line {error.lineno}, column {error.colno}") from None


def _show(session: Session, profile: Mapping[str, Any]) -> None:
    screen = session.screen
    if screen.emit_if_json(profile):
        return
    if not any(profile[section] for section in SECTIONS):
        screen.say(session.owner_missing() or "Nothing is known yet.")
        return
    for section in SECTIONS:
        if profile[section]:
            screen.say((section.capitalize(), "bold"))
        for entry in profile[section]:
            screen.say((f"{entry['key']}  ", "cyan"), entry["text"], indent=2)
            screen.say((_described(entry), "dim"), indent=4)
    screen.gap()
    screen.say((f"version {profile['version']}, from {profile['stats']['memories']} memories", "dim"))


def _described(entry: dict[str, Any]) -> str:
    return dotted(
        [
            _SOURCES.get(entry["source"], f"said {entry['mentions']} ×, weight {entry['weight']:.2f}"),
            f"since {entry['first_at'][:10]}",
            f"said since: {entry['told']}" if "told" in entry else None,
            "kept safe" if entry["is_safety_critical"] else None,
        ]
    )
