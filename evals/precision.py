"""PrecisionMemBench (Flynt 2026, arXiv:2605.11325): does the right belief come back, and only that one?

The host's part follows the published harness: it keeps the lists of pinned facts and open questions, shows those in
tiers of their own, joins the participants of a relation, and caps the whole. The memory under test gives the tier of
relevant beliefs. docs/evals.md tells how a belief becomes a memory.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Protocol

FIXTURES = Path(__file__).parent / "data" / "precisionmembench"
USER = "test-user"
UNIVERSAL = "user:universal"
BUDGET = 20
"""Beliefs that a context may hold, unless the case says otherwise."""

Belief = dict[str, Any]
Case = dict[str, Any]


class BeliefStore(Protocol):
    """A memory under test, spoken to in beliefs."""

    def put(self, belief: Belief) -> None:
        """Store a belief, or replace the one with its id."""
        ...

    def search(self, query: str, *, user: str, scopes: Sequence[str], limit: int) -> list[str]:
        """Ids of the beliefs that answer, best first."""
        ...

    def held(self, *, user: str, scopes: Sequence[str]) -> list[Belief]:
        """The current beliefs of a user in these scopes."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """What a host would put before its model."""

    prelude: str
    pinned: tuple[str, ...]
    relevant: tuple[str, ...]
    questions: tuple[str, ...]
    leaks: tuple[str, ...] = ()
    """What came back although it is another user's, another scope's, superseded or resolved."""


@dataclass
class Outcome:
    """One case or turn."""

    case: str
    category: str
    precision: float | None
    recall: float | None
    active: bool
    """The case names beliefs that must come back."""
    failures: list[str]
    seconds: float
    drift: float = 0.0
    leaks: tuple[str, ...] = ()


@dataclass
class Report:
    """Outcomes of the single questions and of the turns of the sessions."""

    cases: list[Outcome] = field(default_factory=list)
    turns: list[Outcome] = field(default_factory=list)


def fixture(name: str) -> list[dict[str, Any]]:
    """`beliefs.seed`, `retrieval.cases` or `session-retrieval.cases`."""
    rows: list[dict[str, Any]] = json.loads((FIXTURES / f"{name}.json").read_text("utf-8"))
    return rows


def run(store: BeliefStore) -> Report:
    """Seed the beliefs, then all cases, then the sessions, which add and change beliefs on their way."""
    for belief in fixture("beliefs.seed"):
        store.put(belief)
    report = Report([_case(store, case) for case in fixture("retrieval.cases")])
    for session in fixture("session-retrieval.cases"):
        for turn in session["turns"]:
            report.turns.append(_turn(store, session["caseId"], turn=turn))
            _apply(store, turn)
    return report


def build_context(
    store: BeliefStore, query: str, *, user: str, scopes: Sequence[str], limit: int = BUDGET
) -> tuple[Context, float]:
    """The context for one message, and the seconds that the search took."""
    current = store.held(user=user, scopes=scopes)
    pinned = [belief["_id"] for belief in current if belief["pinned"] and belief["type"] != "open_question"]
    questions = [belief["_id"] for belief in current if belief["pinned"] and belief["type"] == "open_question"]
    prelude = " ".join(belief["content"] for belief in store.held(user=user, scopes=[UNIVERSAL]))
    began = time.perf_counter()
    found = store.search(query, user=user, scopes=scopes, limit=limit) if query.strip() and limit else []
    seconds = time.perf_counter() - began
    known = {belief["_id"]: belief for belief in current}
    relevant = [belief_id for belief_id in dict.fromkeys(found) if _may_show(known.get(belief_id))]
    relevant = list(dict.fromkeys([*relevant, *_participants(relevant, known)]))[: max(0, limit - len(pinned))]
    leaks = tuple(belief_id for belief_id in dict.fromkeys(found) if belief_id not in known)
    return Context(prelude, tuple(pinned[:limit]), tuple(relevant), tuple(questions), leaks), seconds


def _may_show(belief: Belief | None) -> bool:
    """Pinned facts and open questions stand in tiers of their own already. What the user does not hold in this scope
    is a leak, and stays to be seen."""
    return belief is None or (not belief["pinned"] and belief["type"] != "open_question")


def _participants(relevant: Iterable[str], known: Mapping[str, Belief]) -> list[str]:
    joined = chain.from_iterable(known.get(belief_id, {}).get("participants", ()) for belief_id in relevant)
    return [belief_id for belief_id in joined if belief_id in known and _may_show(known[belief_id])]


def interleaved(lists: Iterable[Sequence[str]]) -> list[str]:
    """One list of several, taking the first of each, then the second of each."""
    return [found for rank in zip_longest(*lists) for found in rank if found is not None]


def _apply(store: BeliefStore, turn: Case) -> None:
    if created := turn.get("createBeliefAtTurn"):
        store.put(created)
    if change := turn.get("updateBeliefAtTurn"):
        (belief,) = [row for row in fixture("beliefs.seed") if row["_id"] == change["beliefId"]]
        store.put(belief | {"aliases": [*belief["aliases"], *change["addAliases"]]})


# ── checking ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _case(store: BeliefStore, case: Case) -> Outcome:
    limit = case.get("budget", {}).get("maxBeliefs", BUDGET)
    user = case.get("userId", USER)
    context, seconds = build_context(store, case["query"], user=user, scopes=case["scope"], limit=limit)
    expect = case["expect"]
    expected = _wanted(expect)
    precision, recall = precision_recall(context.relevant, expected)
    return Outcome(
        case=case["caseId"],
        category=case["category"],
        precision=precision,
        recall=recall,
        active=bool(expected),
        failures=failures(context, expect),
        seconds=seconds,
        leaks=context.leaks,
    )


def _turn(store: BeliefStore, session: str, *, turn: Case) -> Outcome:
    context, seconds = build_context(store, turn["userMessage"], user=USER, scopes=turn["scope"])
    expect = turn["expect"]
    expected = _wanted(expect)
    precision, recall = precision_recall(context.relevant, expected)
    return Outcome(
        case=f"{session}/{turn['turnIndex']}",
        category="Session-level noise isolation",
        precision=precision if context.relevant else None,
        recall=recall,
        active=bool(expected),
        failures=failures(context, expect),
        seconds=seconds,
        drift=1.0 - precision if context.relevant and precision is not None else 0.0,
        leaks=context.leaks,
    )


def _wanted(expect: Case) -> frozenset[str]:
    return frozenset(expect.get("relevantBeliefs", {}).get("shouldOnlyInclude", ()))


def precision_recall(relevant: Sequence[str], wanted: frozenset[str]) -> tuple[float | None, float | None]:
    """As published: no precision where nothing was wanted and nothing came, no recall where nothing was wanted."""
    right = len(wanted & set(relevant))
    if relevant:
        precision: float | None = right / len(relevant)
    else:
        precision = 0.0 if wanted else None
    return precision, right / len(wanted) if wanted else None


def failures(context: Context, expect: Case) -> list[str]:
    """Every assertion of a case that does not hold; none means that it passed."""
    beliefs = expect.get("relevantBeliefs", {})
    shown = {*context.pinned, *context.relevant}
    found = [f"forbidden: {name}" for name in beliefs.get("mustExclude", ()) if name in shown]
    if "shouldOnlyInclude" in beliefs:
        expected = set(beliefs["shouldOnlyInclude"])
        found += [f"unexpected: {name}" for name in context.relevant if name not in expected]
        found += [f"missing: {name}" for name in sorted(expected - set(context.relevant))]
    noise = expect.get("noiseCheck", {}).get("mustNotSurface", ())
    found += [f"noise: {name}" for name in noise if name in shown]
    found += _tier("pinned", context.pinned, expect=expect.get("pinnedFacts", {}))
    found += _tier("question", context.questions, expect=expect.get("openQuestions", {}))
    return found + _prelude(context.prelude, expect.get("personaPrelude", {}))


def _tier(name: str, shown: Sequence[str], *, expect: Case) -> list[str]:
    missing = [f"{name} missing: {belief}" for belief in expect.get("mustInclude", ()) if belief not in shown]
    return missing + [f"{name} forbidden: {belief}" for belief in expect.get("mustExclude", ()) if belief in shown]


def _prelude(prelude: str, expect: Case) -> list[str]:
    found = [f"prelude lacks {text!r}" for text in expect.get("contains", ()) if text not in prelude]
    found += [f"prelude holds {text!r}" for text in expect.get("mustNotContain", ()) if text in prelude]
    if expect.get("nonEmpty") and not prelude:
        found.append("prelude is empty")
    if expect.get("isNull") and prelude:
        found.append("prelude is not empty")
    return found


# ── summing up ───────────────────────────────────────────────────────────────────────────────────────────────────────


def summary(report: Report) -> dict[str, Any]:
    """The published figures, and ours: `precision` over every case that has one, `active_*` over the cases that want
    a belief back."""
    active = [outcome for outcome in report.cases if outcome.active]
    return {
        "precision": _mean(outcome.precision for outcome in report.cases),
        "recall": _mean(outcome.recall for outcome in report.cases),
        "active_precision": _mean(outcome.precision for outcome in active),
        "passed": _passed(report.cases),
        "cases": len(report.cases),
        "active_passed": _passed(active),
        "active_cases": len(active),
        "leaks": sum(len(outcome.leaks) for outcome in [*report.cases, *report.turns]),
        "isolation": _share(report.cases, "Cross-user isolation", "Scope disambiguation"),
        "supersession": _share(report.cases, "Supersession chain exclusion"),
        "categories": {name: _share(report.cases, name) for name in sorted({row.category for row in report.cases})},
        "turns_passed": _passed(report.turns),
        "turns": len(report.turns),
        "turn_precision": _mean(outcome.precision for outcome in report.turns),
        "drift": _mean(outcome.drift for outcome in report.turns),
        "failed": {outcome.case: outcome.failures for outcome in [*report.cases, *report.turns] if outcome.failures},
    }


def _passed(outcomes: Iterable[Outcome]) -> int:
    return sum(not outcome.failures for outcome in outcomes)


def _share(outcomes: Iterable[Outcome], *categories: str) -> str:
    chosen = [outcome for outcome in outcomes if outcome.category in categories]
    return f"{_passed(chosen)}/{len(chosen)}"


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
