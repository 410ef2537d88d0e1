"""What users import and what calls return: a list of names, and a shape for each answer."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ebbing
from ebbing import AsyncMemory, AsyncSession, Memory, errors, results
from ebbing.api.threads import blocking
from ebbing.api.threads.blocking import Blocking
from ebbing.domain import errors as tree
from ebbing.testing.models.embedder import FakeEmbedder

NAMESPACES = [
    kind
    for kind in vars(blocking).values()
    if isinstance(kind, type) and issubclass(kind, Blocking) and kind is not Blocking
]
UNTYPED = {"search_records", "session", "subscribe"}
"""They return objects, not answers."""


def verbs(*kinds: type) -> Iterator[Any]:
    for kind in kinds:
        for name, method in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_"):
                yield pytest.param(method, id=f"{kind.__name__}.{name}")


def test_the_package_has_these_public_names_and_no_others() -> None:
    assert ebbing.__all__ == [
        *("AsyncMemory", "AsyncSession", "Memory", "MemoryEvent", "RecallSettings", "Session"),
        *("__version__", "errors", "move", "results"),
    ]
    assert all(getattr(ebbing, name) is not None for name in ebbing.__all__)
    with pytest.raises(AttributeError):
        _ = ebbing.memories  # type: ignore[attr-defined]


def test_every_error_is_public() -> None:
    kinds = {name for name, kind in vars(tree).items() if isinstance(kind, type) and name.endswith("Error")}
    assert set(errors.__all__) == kinds
    assert all(getattr(errors, name) is getattr(tree, name) for name in errors.__all__)


def test_every_shape_is_public_and_explained() -> None:
    for name in results.__all__:
        assert name == "JsonObject" or getattr(results, name).__doc__


@pytest.mark.parametrize("method", [*verbs(AsyncMemory, Memory, AsyncSession, *NAMESPACES)])
def test_no_verb_returns_something_untyped(method: Any) -> None:
    returned = inspect.signature(method).return_annotation
    assert "Any" not in str(returned)
    assert "dict" not in str(returned)


# ── answers have the shape that they promise ─────────────────────────────────────────────────────────────────────────


def misfits(value: object, shape: Any, place: str = "answer") -> Iterator[str]:
    """Yield where a value differs from a type of `ebbing.results`."""
    origin, arguments = typing.get_origin(shape), typing.get_args(shape)
    if typing.is_typeddict(shape):
        yield from _misfits_of_fields(value, shape, place)
    elif origin in {typing.Union, types.UnionType}:
        if all(any(misfits(value, choice)) for choice in arguments):
            yield f"{place} is {value!r}, and none of {shape}"
    elif origin is typing.NotRequired:
        yield from misfits(value, arguments[0], place)
    elif not isinstance(value, (int, float) if shape is float else origin or shape):
        yield f"{place} is {value!r}, not of {shape}"
    elif arguments:
        elements = enumerate(value) if isinstance(value, list) else typing.cast("dict[object, object]", value).items()
        for name, element in elements:
            yield from misfits(element, arguments[-1], f"{place}[{name!r}]")


def _misfits_of_fields(value: object, shape: Any, place: str) -> Iterator[str]:
    fields = typing.get_type_hints(shape, include_extras=True)
    if not isinstance(value, dict):
        yield f"{place} is {value!r}, no dict"
        return
    yield from (f"{place} lacks {name}" for name in shape.__required_keys__ - value.keys())
    yield from (f"{place} has {name}, which {shape.__name__} does not name" for name in value.keys() - fields.keys())
    for name in fields.keys() & value.keys():
        yield from misfits(value[name], fields[name], f"{place}[{name!r}]")


def fits(value: object, shape: Any) -> None:
    assert [*misfits(value, shape)] == []


def test_the_check_of_shapes_finds_what_is_wrong() -> None:
    good = {"used": ["a"]}
    fits(good, results.AttributionAnswer)
    for bad in ({}, {"used": "a"}, {"used": [5]}, {**good, "more": 1}, []):
        assert [*misfits(bad, results.AttributionAnswer)]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path, embedder=FakeEmbedder()) as opened:
        yield opened


def test_answers_about_memories_have_their_shapes(memory: Memory) -> None:
    added = memory.add("I live in Paris. My sister is Lin. I like tea.", user_id="emma", metadata={"app": ["a", 1]})
    fits(added, results.AddAnswer)
    fits(memory.add("I moved to Berlin.", user_id="emma", tags=["moves"]), results.AddAnswer)
    fits(memory.search("where does she live?", user_id="emma", explain=True), results.SearchAnswer)
    fits(memory.search("tea", user_id="nobody"), results.SearchAnswer)
    page = memory.get_all(user_id="emma", superseded=True)
    fits(page, results.ListAnswer)
    fits(memory.get_all(user_id="nobody"), results.ListAnswer)
    name = page["results"][0]["id"]
    fits(memory.get(name), results.MemoryItem)
    fits(memory.explain(name), results.ExplainAnswer)
    fits(memory.history(name), list[results.HistoryItem])
    fits(memory.get_sources(name), results.SourcesAnswer)
    fits(memory.update(name, metadata={"seen": True}), results.UpdateAnswer)
    fits(memory.feedback(name, "used", reason="it helped"), results.FeedbackAnswer)
    fits(
        memory.attribute_usage("She lives in Berlin", memory.search("live", user_id="emma")), results.AttributionAnswer
    )
    fits(memory.get_context("where does she live?", user_id="emma"), results.ContextAnswer)
    fits(memory.graph(user_id="emma", include_ended=True), results.GraphAnswer)
    fits(memory.delete(name), results.DeleteAnswer)
    fits(memory.restore(name), results.RestoreAnswer)
    fits(memory.delete(name, hard=True), results.DeleteAnswer)
    fits(memory.undo(user_id="emma"), results.UndoAnswer)
    fits(memory.changes.list(user_id="emma"), results.ChangePage)
    fits(memory.reviews.list(user_id="emma"), results.ReviewList)
    shown = memory.forget("forget what I said about tea", user_id="emma")
    fits(shown, results.ForgetAnswer)
    fits(memory.forget(confirm=shown["confirm"], user_id="emma", hard=True), results.ForgetAnswer)
    fits(memory.add("Don't remember this: I like jazz.", user_id="emma"), results.AddAnswer)
    fits(memory.enqueue_add("Don't remember this.", user_id="emma"), results.EnqueueAnswer)
    fits(memory.delete_all(user_id="emma"), results.ErasureAnswer)
    fits(memory.reset(), results.ErasureAnswer)


def test_answers_of_the_overview_have_their_shapes(memory: Memory) -> None:
    memory.add("I live in Paris. My sister is Lin. I like tea.", user_id="emma")
    memory.add("I moved to Berlin.", user_id="emma")
    overview = memory.overview
    page = overview.memories(user_id="emma", state="all")
    fits(page, results.BrowseAnswer)
    name = page["results"][0]["id"]
    memory.feedback(name, "used", reason="it helped")
    fits(overview.owners(), results.OwnerPage)
    fits(overview.facets(user_id="emma"), results.FacetsAnswer)
    fits(overview.content(user_id="emma"), results.ContentAnswer)
    fits(overview.retention(name), results.RetentionAnswer)
    fits(overview.neighbours(name), results.NeighboursAnswer)
    fits(overview.timeline(user_id="emma"), results.TimelineAnswer)
    fits(overview.differences(since="2020-01-01", user_id="emma"), results.DifferencesAnswer)
    fits(overview.forecast(by="2090-01-01", user_id="emma"), results.ForecastAnswer)
    fits(overview.ask("tea", user_id="emma"), results.AskAnswer)
    fits(memory.maintenance.delete_memories([name, "none"]), results.DeletedMemoriesAnswer)


def test_answers_of_a_session_have_their_shapes(memory: Memory) -> None:
    memory.add("I like green tea.", user_id="emma")
    with memory.session(user_id="emma") as session:
        session.add("Which green tea do I like?")
        fits(session.search("green tea"), results.SessionSearchAnswer)
        fits(session.messages(), list[results.ChatMessage])
        fits(session.get_context(), results.ContextAnswer)
        fits(memory.forget("forget what I said about green tea", user_id="emma"), results.ForgetAnswer)


def test_answers_about_owners_have_their_shapes(memory: Memory) -> None:
    memory.add("I live in Paris and I'm allergic to peanuts.", user_id="emma")
    fits(memory.profiles.get(user_id="emma"), results.ProfileAnswer)
    fits(memory.profiles.update({"home": "Berlin"}, user_id="emma"), results.ProfileUpdate)
    fits(memory.profiles.rebuild(user_id="emma"), results.ProfileAnswer)
    fits(memory.profiles.import_({"job": "baker"}, user_id="emma"), results.ProfileImport)
    fits(memory.profiles.set_defaults({"constraints": ["short answers"]}), results.ProfileDefaults)
    fits(memory.profiles.suggest_questions(user_id="emma"), list[results.SuggestedQuestion])
    web = memory.identities.resolve("web", "cookie")
    fits(web, results.IdentityItem)
    fits(memory.identities.link("app", "device", user_id="emma"), results.IdentityItem)
    fits(memory.identities.list(), results.IdentityPage)
    merge = memory.identities.merge("emma", web["user_id"])
    fits(merge, results.IdentityMerge)
    fits(memory.identities.list_merges(), list[results.IdentityMerge])
    fits(memory.identities.unmerge(merge["id"]), results.IdentityMerge)
    fits(memory.identities.unlink("app", "device"), results.UnlinkAnswer)


def test_answers_about_the_store_have_their_shapes(memory: Memory, tmp_path: Path) -> None:
    for text in ("I drink tea.", "I drink tea!", "I drink tea…"):
        memory.add(text, user_id="emma", infer=False)
    upkeep = memory.maintenance
    fits(upkeep.run(dry_run=True, now="2030-01-01"), results.MaintenanceAnswer)
    fits(upkeep.merge_duplicates(user_id="emma"), results.MergeAnswer)
    merged = memory.get_all(user_id="emma")["results"]
    fits(merged, list[results.MemoryItem])
    fits(upkeep.split_merged(merged[0]["id"]), results.SplitAnswer)
    fits(upkeep.derive_habits(user_id="emma", dry_run=True), results.HabitAnswer)
    fits(upkeep.apply_forgetting(user_id="emma", dry_run=True), results.ForgettingAnswer)
    fits(upkeep.list_owners(), list[results.OwnerItem])
    fits(upkeep.stats(), results.StatsAnswer)
    fits(upkeep.diagnose(), results.DiagnoseAnswer)
    fits(upkeep.vacuum(), results.VacuumAnswer)
    fits(upkeep.backup(tmp_path / "backup"), results.BackupAnswer)
    page = memory.export(user_id="emma")
    fits(page, results.ExportPage)
    fits(memory.import_([*page["records"], {}], user_id="bob"), results.ImportAnswer)
    queued = memory.enqueue_add("I like rain.", user_id="emma")
    fits(queued, results.EnqueueAnswer)
    fits(memory.jobs.run_worker(until_idle=True), results.WorkerAnswer)
    fits(memory.jobs.list(), results.JobList)
    assert queued["job_id"] is not None
    fits(memory.jobs.get(queued["job_id"]), results.JobItem)
    key = memory.api_keys.create("read", note="a test")
    fits(key, results.NewApiKey)
    fits(memory.api_keys.list(), list[results.ApiKeyItem])
    fits(memory.api_keys.revoke(key["id"]), results.ApiKeyItem)
    memory.audit.record("keys create", actor="cli", target=key["id"])
    fits(memory.audit.list(), list[results.AuditItem])
    hook = memory.webhooks.create("https://example.org/hook")
    fits(hook, results.NewWebhook)
    fits(memory.webhooks.list(), list[results.WebhookItem])
    fits(memory.webhooks.update(hook["id"], name="tests"), results.WebhookItem)
