"""`ebbing identities`: under which names people come, and who is one and the same."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from ebbing.domain.errors import InvalidInputError
from ebbing.interfaces.cli.output import day, dotted, minute
from ebbing.interfaces.cli.session import Session, command

Channel = Annotated[str, typer.Argument(help="Where they come from: web, wechat, slack …")]
ChannelUserId = Annotated[str, typer.Argument(help="What they are called there.")]


def register(app: typer.Typer) -> None:
    """Adds the group `identities` to the app."""
    group = typer.Typer(help="Who comes from which channel, and who is one and the same.", no_args_is_help=True)
    command(group, "list")(list_identities)
    command(group, "resolve", makes_store=True)(resolve)
    command(group, "link", makes_store=True)(link)
    command(group, "unlink")(unlink)
    command(group, "merge")(merge)
    command(group, "unmerge")(unmerge)
    command(group, "merges")(merges)
    app.add_typer(group, name="identities")


def list_identities(
    session: Session,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1_000, help="How many at most.")] = 100,
    cursor: Annotated[str | None, typer.Option(help="Where the last page ended.")] = None,
) -> None:
    """List names in channels, with --user those of one person."""
    page = session.memory.identities.list(user_id=session.named_user, limit=limit, cursor=cursor)
    if session.screen.emit_if_json(page):
        return
    for identity in page["identities"]:
        _say(session, identity)
    if not page["identities"]:
        session.screen.say("Nobody comes from a channel yet.")
    if page["next_cursor"]:
        session.screen.say(f"There is more: --cursor '{page['next_cursor']}'")


def resolve(session: Session, channel: Channel, *, channel_user_id: ChannelUserId) -> None:
    """Show whose memory somebody from a channel has; somebody new gets an id."""
    _answer(session, session.memory.identities.resolve(channel, channel_user_id))


def link(session: Session, channel: Channel, *, channel_user_id: ChannelUserId) -> None:
    """Make a name one of this user's (--user)."""
    if session.user is None:
        raise InvalidInputError("whose name is it? Give --user ID")
    _answer(session, session.memory.identities.link(channel, channel_user_id, user_id=session.user))


def unlink(session: Session, channel: Channel, *, channel_user_id: ChannelUserId) -> None:
    """Forget a name; the memories stay whose they are."""
    done = session.memory.identities.unlink(channel, channel_user_id)
    if session.screen.as_json:
        session.screen.emit(done)
    else:
        session.screen.say("forgotten" if done["unlinked"] else "nobody came under this name")


def merge(
    session: Session,
    target_user_id: Annotated[str, typer.Argument(help="User id of the one who stays.")],
    *,
    source_user_id: Annotated[str, typer.Argument(help="User id of the one whose memories move.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Make two users one; `ebbing identities unmerge` parts them again."""
    if not yes and not session.screen.as_json and sys.stdin.isatty():
        typer.confirm(f"Move everything of {source_user_id} to {target_user_id}?", abort=True, err=True)
    done = session.memory.identities.merge(target_user_id, source_user_id)
    session.memory.audit.record("identities merge", actor="cli", target=str(done["id"]))
    _tell(session, done, line=f"{done['memories']} memories and {done['episodes']} messages moved to {target_user_id}")


def unmerge(session: Session, merge_id: Annotated[int, typer.Argument(help="Number of the merge.")]) -> None:
    """Part again whom a merge made one."""
    done = session.memory.identities.unmerge(merge_id)
    session.memory.audit.record("identities unmerge", actor="cli", target=str(merge_id))
    _tell(session, done, line=f"{done['source_user_id']} has their own memories again")


def merges(
    session: Session,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1_000, help="How many at most.")] = 100,
) -> None:
    """List who was made one with whom, with --user of one person."""
    merge_list = session.memory.identities.list_merges(user_id=session.named_user, limit=limit)
    if session.screen.emit_if_json(merge_list):
        return
    for item in merge_list:
        undone = f"undone {minute(item['undone_at'])}" if item["undone_at"] else None
        session.screen.say(
            (f"{item['id']}  ", "bold"),
            dotted([f"{item['source_user_id']} → {item['target_user_id']}", minute(item["at"]), undone]),
        )
    if not merge_list:
        session.screen.say("Nobody was merged.")


def _answer(session: Session, identity: Mapping[str, Any]) -> None:
    if session.screen.as_json:
        session.screen.emit(identity)
    else:
        _say(session, identity)


def _say(session: Session, identity: Mapping[str, Any]) -> None:
    first = "first name" if identity["is_primary"] else None
    session.screen.say(
        (identity["user_id"], "bold"),
        "  ",
        dotted([identity["channel"], identity["channel_user_id"], first, f"since {day(identity['linked_at'])}"]),
    )


def _tell(session: Session, merge: Mapping[str, Any], *, line: str) -> None:
    if session.screen.as_json:
        session.screen.emit(merge)
    else:
        session.screen.say(line)
        session.screen.say((f"merge {merge['id']}", "dim"), indent=2)
