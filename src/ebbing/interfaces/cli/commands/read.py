"""Commands that only look: search, list, show, history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

from ebbing.domain.errors import MemoryNotFoundError
from ebbing.interfaces.cli.output import Screen, bar, day, dotted, minute, said_by
from ebbing.interfaces.cli.session import Session, command

ROUTES = {"semantic": "meaning", "keyword": "keywords"}
"""Route names as people say them."""


class Include(StrEnum):
    """Which rows a command is about."""

    ALL = "all"
    MEMORIES = "memories"
    EPISODES = "episodes"


def register(app: typer.Typer) -> None:
    """Adds the commands of this module to the app."""
    command(app, "search", scoped=True)(search)
    command(app, "list", scoped=True)(list_memories)
    command(app, "show")(show)
    command(app, "history")(history)


def search(
    session: Session,
    query: Annotated[list[str], typer.Argument(help="The question, in any language.")],
    *,
    top_k: Annotated[int, typer.Option("--top-k", "-k", min=1, max=50, help="How many answers at most.")] = 5,
    include: Annotated[Include, typer.Option(help="Memories, raw messages (episodes), or both.")] = Include.ALL,
) -> None:
    """Find what answers a question, and see why it was found."""
    answer = session.memory.search(" ".join(query), **session.owner_ids(), top_k=top_k, include=include.value)
    if session.screen.emit_if_json(answer):
        return
    if not answer["results"]:
        session.screen.say(session.owner_missing() or "Nothing is known that answers this.")
    for place, hit in enumerate(answer["results"], 1):
        show_hit(session.screen, place, hit=hit)
        session.screen.say((hit["id"], "dim"), indent=4)


def list_memories(
    session: Session,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1_000, help="How many at most.")] = 20,
    include: Annotated[Include, typer.Option(help="Memories, raw messages (episodes), or both.")] = Include.MEMORIES,
    cursor: Annotated[str | None, typer.Option(help="Where the last page ended.")] = None,
    superseded: Annotated[bool, typer.Option("--superseded", help="What is no longer true, too.")] = False,
) -> None:
    """List memories, the newest first."""
    page = session.memory.get_all(
        **session.owner_ids(), limit=limit, cursor=cursor, include=include.value, superseded=superseded
    )
    if session.screen.emit_if_json(page):
        return
    if not page["results"]:
        session.screen.say(session.owner_missing() or "Nothing is kept here yet.")
    for item in page["results"]:
        session.screen.say((item["memory"], "bold"))
        session.screen.say((described(item), "dim"), indent=2)
        session.screen.say((item["id"], "dim"), indent=2)
    if page["next_cursor"]:
        session.screen.gap()
        session.screen.say(f"There is more: --cursor {page['next_cursor']}")


def show(session: Session, memory_id: Annotated[str, typer.Argument(help="Id of the memory.")]) -> None:
    """Show one memory: what it says, where it comes from, why it is kept."""
    item = session.memory.explain(memory_id, user_id=session.user)
    screen = session.screen
    if screen.emit_if_json(item):
        return
    screen.say((item["memory"], "bold"))
    screen.rows(_details(item), indent=2)
    if item["history"]:
        screen.gap()
    _show_history(screen, item["history"])


def history(session: Session, memory_id: Annotated[str, typer.Argument(help="Id of the memory.")]) -> None:
    """Show what happened to a memory, oldest first."""
    entries = session.memory.history(memory_id, user_id=session.user)
    if session.screen.emit_if_json(entries):
        return
    if not entries and session.memory.get(memory_id, user_id=session.user) is None:
        raise MemoryNotFoundError("no memory with this id: check the id and whose it is (--user)")
    _show_history(session.screen, entries)


def show_hit(screen: Screen, place: int, *, hit: Mapping[str, Any]) -> None:
    """One answer of a search: how good, what, from where, by which routes."""
    score = hit["score"]
    screen.say((f"{place:>2}  ", "dim"), (f"{bar(score)} {score:.2f}", "cyan"), "  ", (hit["memory"], "bold"))
    screen.say((described(hit), "dim"), indent=4)
    screen.say(("found by ", "dim"), found_by(hit), indent=4)


def found_by(hit: Mapping[str, Any]) -> str:
    """The routes that found a hit, each with its raw score: cosine for meaning, BM25 points for keywords."""
    routes = [f"{ROUTES.get(name, name)} {score:.2f}" for name, score in hit["retriever_scores"].items()]
    return " + ".join(routes) or "nothing but its neighbours"


def described(item: Mapping[str, Any]) -> str:
    """Kind, speaker, day and source of an item, in one line."""
    is_memory = item["kind"] == "memory"
    return dotted(
        [
            item["type"] if is_memory else "said in the conversation",
            f"importance {item['importance']:.2f}" if is_memory else None,
            f"no longer true since {day(item['valid_to'])}" if "valid_to" in item else None,
            f"{said_by(item)}, {day(item['created_at'])}" if said_by(item) else day(item["created_at"]),
            f"from message {', '.join(item['source_ids'])}" if item["source_ids"] else None,
        ]
    )


def _details(item: Mapping[str, Any]) -> list[tuple[str, str]]:
    source = item["provenance"]
    details = {
        "id": item["id"],
        "belongs to": dotted(item.get(name) for name in ("user_id", "agent_id", "run_id")),
        "kind": dotted([item["kind"], item["type"], item["layer"], *item["tags"]]),
        "said": dotted([said_by(item), minute(item["created_at"])]),
        "weight": f"importance {item['importance']:.2f} · confidence {item['confidence']:.2f}",
        "fades": "never: who somebody is and what harms them stays" if item["never_fades"] else None,
        "needed again": None
        if item["never_fades"]
        else item["usage_probability"] and _retention(item["usage_probability"]),
        "valid until": item.get("valid_to") and minute(item["valid_to"]),
        "expires": item.get("expires_at") and minute(item["expires_at"]),
        "deleted": item["deleted_at"] and dotted([minute(item["deleted_at"]), item["delete_reason"]]),
        "read from": source["source_text"],
        "messages": ", ".join(source["source_ids"]),
        "by": dotted([source["method"], source["rule"]]),
        "because": source["reason"],
        "metadata": ", ".join(f"{key}={value}" for key, value in (item["metadata"] or {}).items()),
    }
    return [(name, value) for name, value in details.items() if value]


def _retention(retention: dict[str, Any]) -> str:
    origin = "learned from what was of use here" if retention["is_learned"] else "as usual"
    chance = f"{retention['probability']:.1%}" if retention["probability"] >= 0.001 else "below 0.1%"
    return f"{chance} within {retention['horizon_days']} days · {origin}"


def _show_history(screen: Screen, entries: Sequence[Mapping[str, Any]]) -> None:
    for entry in entries:
        change = entry["new_memory"] or ""
        if entry["event"] == "UPDATE" and entry["old_memory"] != entry["new_memory"]:
            change = f"{entry['old_memory']} → {entry['new_memory']}"
        screen.say(
            (minute(entry["updated_at"] or entry["created_at"]), "dim"), f"  {entry['event']:<9}  ", change or "—"
        )
        if entry["reason"]:
            screen.say((entry["reason"], "dim"), indent=4)
