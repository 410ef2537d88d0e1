"""What is on, what is off, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Literal

from pydantic import SecretStr

from ebbing.domain.errors import EbbingError, StoreError
from ebbing.ports.indexes.vector_index import VectorRoom
from ebbing.ports.job_queue import JobState
from ebbing.ports.models.embedder import Embedder
from ebbing.ports.stores.memory_store import StoreStats
from ebbing.privacy.addresses import without_password
from ebbing.upkeep.repair.retry_extraction import unread_counts
from ebbing.upkeep.worker.schedule import DAY
from ebbing.wiring.build import Components
from ebbing.wiring.components.replicas import redis_standing
from ebbing.wiring.config.earlier_names import superseded_names
from ebbing.wiring.config.settings import Settings

State = Literal["on", "off", "attention"]
Finding = dict[str, str]


async def diagnose(components: Components) -> dict[str, Any]:
    """Load what can be loaded and say how it went; no secret, no personal text.

    Returns:
        `{"findings": [{"part", "state", "detail"}], "stats": {...}, "settings": {...}}`; `state` is `on`, `off` or
        `attention` (works, but something should be done).

    Raises:
        StoreError: the store cannot be read.
    """
    try:
        embedder, failure = await components.embedder.get(), None
    except EbbingError as error:
        embedder, failure = None, str(error)
    components.store.use_model(embedder)
    stats = await components.store.stats(components.settings.tenant)
    queue_findings, answers = await _about_queue(components)
    findings = [
        *(_finding("settings", "attention", detail=sentence) for sentence in superseded_names()),
        *(_finding("settings", "attention", detail=sentence) for sentence in components.settings.replaced),
        *_about_store(components.settings),
        *await _about_redis(components.settings),
        *_about_embedder(components, embedder, failure=failure),
        await _about_reranker(components),
        await _about_reader(components, failure=failure),
        _about_chat(components),
        *queue_findings,
        *(await _about_unread(components) if answers else ()),
        await _about_index(components),
        await _about_graph(components),
        _about_proxy(components.settings),
        *([await _about_upkeep(components)] if answers else ()),
        *_about_counts(stats, embedder),
    ]
    return {"findings": findings, "stats": asdict(stats), "settings": _shown(components.settings)}


def _finding(part: str, state: State, *, detail: str) -> Finding:
    return {"part": part, "state": state, "detail": detail}


def _about_store(settings: Settings) -> Iterator[Finding]:
    if settings.store == "ephemeral":
        yield _finding("store", "attention", detail="ephemeral: everything is gone when this process ends")
        return
    if settings.address is not None:
        yield from _about_server(settings, settings.address)
        return
    from ebbing.adapters.sqlite.connection.file_info import about

    about_store = about(settings.path)
    yield _finding("store", "on", detail=about_store["file"])
    yield _finding("sqlite", "on", detail=f"{about_store['sqlite']}, journal {about_store['journal']}")
    yield _finding("layout", "on", detail=about_store["layout"])


def _about_server(settings: Settings, address: str) -> Iterator[Finding]:
    from ebbing.adapters.sql.connection.addresses import address_of
    from ebbing.adapters.sql.connection.schema import server_and_layout

    server, layout = server_and_layout(address_of(address))
    yield _finding("store", "on", detail=settings.place)
    yield _finding("server", "on", detail=server)
    yield _finding("layout", "on", detail=layout)


async def _about_redis(settings: Settings) -> list[Finding]:
    if settings.redis_url is None:
        return []
    try:
        is_well, detail = await redis_standing(settings.redis_url.get_secret_value())
    except EbbingError as error:
        is_well, detail = False, str(error)
    return [_finding("redis", "on" if is_well else "attention", detail=detail)]


def _about_embedder(components: Components, embedder: Embedder | None, *, failure: str | None) -> Iterator[Finding]:
    *earlier, last = components.embedder.notes or ["nothing was tried"]
    for note in earlier:
        yield _finding("embedder", "attention", detail=note)
    if failure is not None:
        yield _finding(
            "embedder", "attention", detail=f"cannot be loaded, so nothing can be searched or stored: {failure}"
        )
    elif embedder is None and components.settings.embedder == "none":
        yield _finding("embedder", "off", detail="switched off by EBBING_EMBEDDER=none: keyword search only")
    else:
        yield _finding("embedder", "on" if embedder else "attention", detail=last)


async def _about_reranker(components: Components) -> Finding:
    try:
        reranker = await components.reranker.get()
    except EbbingError as error:
        return _finding("reranker", "attention", detail=f"cannot serve, searches go on without: {error}")
    if reranker is not None:
        return _finding("reranker", "on", detail=reranker.name)
    notes = components.reranker.notes
    return _finding("reranker", "attention" if notes else "off", detail=notes[-1] if notes else "none is set")


async def _about_reader(components: Components, *, failure: str | None) -> Finding:
    if failure is not None:
        return _finding("reader", "off", detail="the embedder cannot load: scores alone order what is found")
    reader, salience = await components.reader.get(), await components.reader.salience()
    if reader is not None:
        models = {"salience": salience, "changes": await components.reader.change_model()}
        others = "".join(f", {name} {model.version}" for name, model in models.items() if model is not None)
        return _finding("reader", "on", detail=f"version {reader.version}{others}")
    notes = components.reader.notes
    return _finding("reader", "off", detail=f"{notes[-1] if notes else 'none is set'}: rules alone read what is said")


def _about_chat(components: Components) -> Finding:
    """Describe what reads; it is not asked anything here."""
    return _finding("model", "on" if components.chat.asking else "off", detail=components.chat.note)


async def _about_queue(components: Components) -> tuple[list[Finding], bool]:
    """Return where jobs wait, and whether that answers."""
    separate = components.separate_jobs
    if separate is None:
        return [_finding("queue", "on", detail="jobs wait in the store (EBBING_JOB_QUEUE=store)")], True
    try:
        standing = await separate.queue.standing()
    except StoreError as error:
        return [_finding("queue", "attention", detail=f"no job is queued or done: {error}")], False
    findings = [_finding("queue", "on", detail=standing.server)]
    findings += [_finding("queue", "attention", detail=warning) for warning in standing.warnings]
    counts = await separate.former.counts()
    left = sum(count for (_, state), count in counts.items() if state in {JobState.WAITING, JobState.RUNNING})
    detail = f"{left} jobs wait in the store from before: `ebbing worker` moves each when it is due"
    findings += [_finding("queue", "attention", detail=detail)] if left else []
    return findings, True


async def _about_unread(components: Components) -> list[Finding]:
    left = await unread_counts(components.store.jobs, tenant=components.settings.tenant)
    if not any(left.values()):
        return []
    waiting = f"{left['waiting']} batches of messages wait to be read again (ebbing retry-extraction)"
    return [_finding("unread", "attention", detail=f"{waiting}, {left['given_up']} given up")]


async def _about_index(components: Components) -> Finding:
    """Return which index of vectors large owners have, and whether it answers."""
    parts, settings = components.vectors, components.settings
    if parts is None:
        return _finding("index", "off", detail="every row of an owner is compared (EBBING_VECTOR_INDEX=none)")
    try:
        await parts.candidates.index.count(VectorRoom(settings.tenant, "0", "none", 8))
    except EbbingError as error:
        return _finding("index", "attention", detail=f"searches go on without: {error}")
    state = ", at work now" if parts.follower.is_busy else ""
    detail = f"{settings.vector_index}, for owners from {settings.vector_index_from} rows on{state}"
    return _finding("index", "on", detail=detail)


async def _about_graph(components: Components) -> Finding:
    """Return which graph server follows, and whether it has everything."""
    if components.graph is None:
        return _finding("graph", "off", detail="no graph server follows: EBBING_GRAPH_URL names none")
    place = without_password(components.settings.graph_url or "")
    if await components.graph.catch_up():
        return _finding("graph", "on", detail=f"the server at {place} has everything")
    why = "it does not answer, as the log says" if components.graph.is_failing else "another process is at it"
    return _finding("graph", "attention", detail=f"the server at {place} is behind: {why}")


def _about_proxy(settings: Settings) -> Finding:
    if not settings.proxy_url:
        return _finding("proxy", "off", detail="no chats are passed on: EBBING_PROXY_URL names no model's endpoint")
    key = "its own key" if settings.proxy_api_key else "no key of its own (EBBING_PROXY_API_KEY)"
    place = without_password(settings.proxy_url)
    return _finding("proxy", "on", detail=f"`ebbing serve` passes chats on to {place}, with {key}")


async def _about_upkeep(components: Components) -> Finding:
    """Return whether a worker comes round, and what it gave up."""
    queue, tenant = components.store.jobs, components.settings.tenant
    last = await queue.list(kind="daily", state=JobState.DONE, tenant=tenant, limit=1)
    counts = await queue.counts(tenant=tenant)
    dead = sum(count for (_, state), count in counts.items() if state is JobState.DEAD)
    given_up = f"; {dead} jobs were given up (ebbing jobs list --state dead)" if dead else ""
    if not last or last[0].ended_at is None:
        return _finding("upkeep", "attention" if dead else "off", detail=f"no worker has come round yet{given_up}")
    idle = components.clock.now() - last[0].ended_at
    is_late = idle > 2 * DAY
    detail = f"last daily round on {last[0].ended_at:%Y-%m-%d %H:%M} UTC"
    late = ": is `ebbing worker` running?" if is_late else ""
    return _finding("upkeep", "attention" if is_late or dead else "on", detail=f"{detail}{late}{given_up}")


def _about_counts(stats: StoreStats, embedder: Embedder | None) -> Iterator[Finding]:
    counts = (
        f"{stats.memories} memories and {stats.episodes} episodes of {stats.owners} owners, {stats.deleted} deleted"
    )
    yield _finding("contents", "on", detail=f"{counts}, {stats.bytes_on_disk / 2**20:.1f} MiB on disk")
    if not stats.is_scrubbed:
        detail = "removed texts still lie in unused parts of the file: overwritten soon; `ebbing vacuum` does it now"
        yield _finding("erasure", "attention", detail=detail)
    if embedder is not None and stats.without_vector:
        of = stats.by_model.get(embedder.model_id, 0) + stats.without_vector
        detail = (
            f"{stats.without_vector} of {of} rows have no vector of this embedder yet and are"
            " found by keyword only: `ebbing worker` makes them by and by, `ebbing maintain` at once"
        )
        yield _finding("vectors", "attention", detail=detail)


def _shown(settings: Settings) -> dict[str, Any]:
    """Return the settings in force; of a secret only that it is set, of an address what opens nothing."""
    shown: dict[str, Any] = {}
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            value = "(set)"
        elif value and (name.endswith("_url") or (name == "store" and settings.address is not None)):
            value = without_password(value)
        shown[name] = value if value is None or isinstance(value, int | float | bool) else str(value)
    return shown
