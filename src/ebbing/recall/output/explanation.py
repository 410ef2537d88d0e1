"""Why a memory came back, in a sentence."""

from __future__ import annotations

from typing import Final

from ebbing.domain.filters.query import Hit

_BONUSES: Final = {
    "speaker": "it was said by somebody the question names",
    "quote": "it holds a phrase that the question quotes",
    "name": "it names what the question names",
    "attribute": "it tells what the question asks for",
    "rule": "it is a standing wish or instruction",
    "time": "it was said around the time that the question names",
}


def explain_hit(hit: Hit) -> str:
    """One sentence on what speaks for the memory, strongest kind of evidence first."""
    reasons: list[str] = []
    if hit.retriever_scores.get("graph", 0) > 0:
        linked = "it tells of somebody whom the question names by another word"
        reasons.append(f"{linked}, and holds {hit.coverage:.0%} of its wording in that word")
    elif hit.coverage > 0:
        reasons.append(f"it holds {max(hit.coverage, 0.01):.0%} of the question's wording")
    elif hit.retriever_scores.get("keyword", 0) > 0:
        reasons.append("what was said around it holds words of the question")
    if hit.meaning >= 0.01:
        nearness = "very near" if hit.meaning > 0.7 else "near" if hit.meaning > 0.4 else "somewhat near"
        reasons.append(f"its meaning is {nearness} ({hit.meaning:.2f})")
    if answer := hit.retriever_scores.get("reader", 0):
        likely = "likely" if answer >= 0.5 else "possible" if answer >= 0.1 else "unlikely"
        reasons.append(f"the reader thinks it {likely} that it answers ({answer:.2f})")
    reasons.extend(reason for route, reason in _BONUSES.items() if hit.retriever_scores.get(route, 0) > 0)
    if hit.duplicate_ids:
        reasons.append(f"it was said {len(hit.duplicate_ids) + 1} times")
    text = "; ".join(reasons) or "nothing nearer is known"
    return f"{text[0].upper()}{text[1:]}."
