"""`ebbing keys`: who may use the service."""

from __future__ import annotations

from typing import Annotated

import typer

from ebbing.interfaces.cli.output import day, dotted
from ebbing.interfaces.cli.session import Session, command

Tenant = Annotated[str | None, typer.Option("--tenant", help="Whose keys; EBBING_TENANT if not given.")]


def register(app: typer.Typer) -> None:
    """Adds the group `keys` to the app."""
    group = typer.Typer(help="Keys for the service.", no_args_is_help=True, pretty_exceptions_enable=False)
    command(group, "create", makes_store=True)(create)
    command(group, "list")(list_keys)
    command(group, "revoke")(revoke)
    group.callback()(_group)
    app.add_typer(group, name="keys")


def create(
    session: Session,
    *,
    role: Annotated[str, typer.Option("--role", help="read, write or admin.")] = "write",
    note: Annotated[str | None, typer.Option("--note", help="What it is for.")] = None,
    days: Annotated[float | None, typer.Option("--days", help="For how long; for good if not given.")] = None,
    tenant: Tenant = None,
) -> None:
    """Make a key, and show it once. With --user it opens the memory of that user alone."""
    memory = session.memory.for_tenant(tenant) if tenant else session.memory
    made = memory.api_keys.create(role, user_id=session.named_user, note=note, expires_in_days=days)
    memory.audit.record("keys create", actor="cli", target=made["id"])
    if session.screen.emit_if_json(made):
        return
    owner = f"user {made['user_id']}" if made["user_id"] else "every user"
    session.screen.say((made["key"], "bold"))
    session.screen.say((dotted([made["role"], owner, f"tenant {made['tenant']}", made["id"]]), "dim"), indent=2)
    session.screen.say("It is shown this once. Send it as `Authorization: Bearer KEY`.")


def list_keys(session: Session, *, tenant: Tenant = None) -> None:
    """Show the keys there are, never what they look like."""
    memory = session.memory.for_tenant(tenant) if tenant else session.memory
    keys = memory.api_keys.list()
    if session.screen.emit_if_json(keys):
        return
    for key in keys:
        ended = f"revoked {day(key['revoked_at'])}" if key["revoked_at"] else None
        until = f"until {day(key['expires_at'])}" if key["expires_at"] else None
        owner = f"user {key['user_id']}" if key["user_id"] else "every user"
        session.screen.say(
            (key["id"], "bold"), "  ", dotted([key["role"], owner, day(key["created_at"]), until, ended, key["note"]])
        )
    if not keys:
        session.screen.say("There are no keys yet: `ebbing keys create` makes one.")


def revoke(
    session: Session, key_id: Annotated[str, typer.Argument(help="Id of the key.")], *, tenant: Tenant = None
) -> None:
    """End a key for good; a running service refuses it from then on."""
    memory = session.memory.for_tenant(tenant) if tenant else session.memory
    key = memory.api_keys.revoke(key_id)
    memory.audit.record("keys revoke", actor="cli", target=key_id)
    if session.screen.as_json:
        session.screen.emit(key)
    else:
        session.screen.say(f"{key_id} opens nothing any more")


def _group() -> None:
    """Keys for the service."""
