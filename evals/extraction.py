"""Do the rules take the right facts from a sentence, and nothing else?

    python -m evals extraction              # every part of both languages; errors of the tuning half and the fresh part
    python -m evals extraction --errors all # the other errors too: read them only after the last tuning

The sets are `evals/data/extraction_{en,zh}.jsonl`: sentences and short dialogues, half of them not worth remembering.
An item belongs to the test half by a hash of its id. The fresh part, `extraction_fresh_{en,zh}.jsonl`, was written in
rounds without a look at the rules; each round was counted once before it was used for tuning. Of its last six, half
of the items, by the same hash, are `held`: counted, and never used.

A fact that the rules found is *right* when an expected fact of its item matches: all its strings stand in the fact's
text. Precision = right / found; recall = expected facts matched / expected; type accuracy = of the matched, those of an
expected type. Facts under the write threshold do not count. What is `optional` may be found, and need not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from ebbing.domain.conflict.decision import Fact
from ebbing.domain.memory.message import Message
from ebbing.domain.memory.record import Role
from ebbing.remember.extraction.rule_extractor import extract

DATA: Final = Path(__file__).parent / "data"
LANGUAGES: Final = ("en", "zh")
HALVES: Final = ("tuning", "test")
FRESH: Final = "fresh"
HELD: Final = "held"
PARTS: Final = (*HALVES, FRESH, HELD)
SHOWN: Final = ("tuning", FRESH)
"""Parts whose errors may be read while tuning."""
_SEED: Final = "ebbing"
_THRESHOLD: Final = 0.7
_NOW: Final = datetime(2026, 5, 6, 10, tzinfo=UTC)


@dataclass
class Score:
    """Counts over a set of items, and what went wrong."""

    items: int = 0
    found: int = 0
    right: int = 0
    expected: int = 0
    matched: int = 0
    typed: int = 0
    errors: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.matched / self.expected if self.expected else 1.0

    @property
    def type_accuracy(self) -> float:
        return self.typed / self.matched if self.matched else 1.0

    def as_dict(self) -> dict[str, float]:
        shares = {"precision": self.precision, "recall": self.recall, "type_accuracy": self.type_accuracy}
        return {"items": self.items, "expected": self.expected, **{name: round(x, 3) for name, x in shares.items()}}


def half_of(item_id: str) -> str:
    """`tuning` or `test`, by a hash that never changes."""
    return HALVES[hashlib.sha256(f"{_SEED}:{item_id}".encode()).digest()[0] % 2]


def items(kind: str, language: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Part and item, of every item of one language in the sets `data/{kind}_*.jsonl`."""
    for line in (DATA / f"{kind}_{language}.jsonl").read_text("utf-8").splitlines():
        item = json.loads(line)
        yield half_of(item["id"]), item
    for line in (DATA / f"{kind}_{FRESH}_{language}.jsonl").read_text("utf-8").splitlines():
        item = json.loads(line)
        yield HELD if item.get("held") else FRESH, item


def measure(language: str, part: str) -> Score:
    """The score of the shipped rules on one part of one language's set."""
    score = Score()
    for its_part, item in items("extraction", language):
        if its_part == part:
            _count(item, score)
    return score


def chosen(errors: Sequence[str]) -> Sequence[str]:
    """The parts whose errors are to be listed."""
    return PARTS if "all" in errors else errors


def _count(item: Mapping[str, Any], score: Score) -> None:
    messages = [Message(one["content"], role=Role(one["role"])) for one in item["messages"]]
    found = [fact for fact in extract(messages, now=_NOW) if fact.confidence >= _THRESHOLD]
    allowed = item["facts"]
    expected = [one for one in allowed if not one.get("optional")]
    score.items += 1
    score.found += len(found)
    score.expected += len(expected)
    said = " / ".join(message.content for message in messages)
    for fact in found:
        if any(_matches(fact, one) for one in allowed):
            score.right += 1
        else:
            score.errors.append(f"{item['id']} wrong    {said!r}\n        -> {fact.text!r} by {fact.rule}")
    for one in expected:
        fitting = [fact for fact in found if _matches(fact, one)]
        if not fitting:
            score.errors.append(f"{item['id']} missing  {said!r}\n        -> {one['must_contain']}")
            continue
        score.matched += 1
        wrong = [complaint for fact in fitting if (complaint := _complaint(fact, one))]
        score.typed += len(wrong) < len(fitting)
        if len(wrong) == len(fitting):
            score.errors.append(f"{item['id']} type     {said!r}\n        -> {wrong[0]} by {fitting[0].rule}")


def _matches(fact: Fact, expected: Mapping[str, Any]) -> bool:
    text = fact.text.lower()
    return all(part.lower() in text for part in expected["must_contain"])


def _complaint(fact: Fact, expected: Mapping[str, Any]) -> str | None:
    """What is off about a fact that says the right thing; polarity counts as part of the type."""
    types = [expected["type"]] if isinstance(expected["type"], str) else expected["type"]
    if fact.type not in types:
        return f"{fact.type.value}, not {'/'.join(types)}"
    if "polarity" in expected and fact.polarity != expected["polarity"]:
        return f"polarity {fact.polarity}, not {expected['polarity']}"
    return None


def add_errors_option(parser: argparse.ArgumentParser) -> None:
    """`--errors`, alike in the evals with these parts."""
    parser.add_argument(
        "--errors", nargs="+", choices=[*PARTS, "all", "none"], default=SHOWN, metavar="PART",
        help=f"whose errors to list: {', '.join(PARTS)}, all or none (default: {' '.join(SHOWN)})",
    )  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m evals extraction`."""
    parser.add_argument("--language", choices=[*LANGUAGES, "all"], default="all")
    add_errors_option(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of a table")


def run(args: argparse.Namespace) -> None:
    """Prints precision, recall and type accuracy of each language and part, and the errors asked for."""
    languages = LANGUAGES if args.language == "all" else (args.language,)
    scores = {(language, part): measure(language, part) for language in languages for part in PARTS}
    if args.json:
        print(json.dumps({f"{language}/{part}": item.as_dict() for (language, part), item in scores.items()}))
        return
    for (language, part), score in scores.items():
        if part in chosen(args.errors):
            print(f"\n{language} {part}: {len(score.errors)} errors")
            print("\n".join(score.errors))
    print(f"\n{'set':<12}{'items':>7}{'facts':>7}{'precision':>11}{'recall':>8}{'types':>8}")
    for (language, part), score in scores.items():
        shares = f"{score.precision:>11.3f}{score.recall:>8.3f}{score.type_accuracy:>8.3f}"
        print(f"{language + ' ' + part:<12}{score.items:>7}{score.expected:>7}{shares}")


def main() -> None:
    """`python -m evals.extraction`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    run(parser.parse_args())


if __name__ == "__main__":
    main()
