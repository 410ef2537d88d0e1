"""Who and what somebody's memories tell of, and how these stand to each other: worked out from the memories each time,
so that it cannot say anything else than they do."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from ebbing.domain.memory.record import MemoryRecord, MemoryType
from ebbing.language.claims.relations import Alias, aliases, is_word, kind_of, means_one, of_value
from ebbing.language.signals.mentions import names
from ebbing.language.signals.preferences import read_tastes
from ebbing.language.text.analyzer import normalise
from ebbing.people.profile_statements import YES_NO, ProfileStatement, is_order, profile_statement
from ebbing.privacy.attribution import is_brief, source_of

_BEINGS: Final = frozenset({"person", "pet"})
SELF: Final = "self"
"""Id of the person whose memories these are."""
_NAMES: Final = frozenset({"name", "preferred_name"})


@dataclass(frozen=True, slots=True)
class Relation:
    """How one thing stands to another, by one memory."""

    subject: str
    relation: str
    """An attribute (`home`), a relation (`sister`), `likes`, `dislikes` or `avoids`."""
    object: str
    memory_id: str
    since: datetime
    until: datetime | None
    """When it was superseded; None while it holds."""


@dataclass(slots=True)
class Entity:
    """Somebody or something."""

    id: str
    name: str
    kind: str
    """`person`, `pet`, `place`, `organisation`, `thing` or `topic`."""
    aliases: list[str] = field(default_factory=list)
    """Other words for it: `sister`, `company`."""
    memory_ids: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Graph:
    """Entities and relations; every relation's ends are among the entities."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]


def graph_of(records: Iterable[MemoryRecord], *, at: datetime, past: bool, owner_name: str) -> Graph:
    """What memories tell as of a moment.

    Args:
        records: the oldest first, as far as their times do not tell.
        past: what ended before that is told as well, with when it did.
        owner_name: what the person is called where no memory says their name.
    """
    current = [record for record in records if record.created_at <= at]
    if not past:
        current = [record for record in current if record.valid_to is None or record.valid_to > at]
    current.sort(key=lambda record: (record.created_at, record.recorded_at))
    making = _Making(owner_name, _known_names(current, at=at))
    for record in current:
        making.take(record)
    return Graph(tuple(making.entities.values()), tuple(dict.fromkeys(making.relations)))


def graph_near(graph: Graph, about: str, *, hops: int) -> Graph:
    """What a graph says of everybody and everything of a name, as far as so many relations lead."""
    name = normalise(about).strip()
    start = {entity.id for entity in graph.entities if _is_called(entity, name)}
    near: dict[str, set[str]] = {}
    for relation in graph.relations:
        near.setdefault(relation.subject, set()).add(relation.object)
        near.setdefault(relation.object, set()).add(relation.subject)
    reached = dict.fromkeys(start, 0)
    queue = deque(start)
    while queue:
        entity = queue.popleft()
        if reached[entity] == hops or (entity == SELF and SELF not in start):
            continue  # everything is near the person: it leads nowhere
        for other in near.get(entity, set()) - reached.keys():
            reached[other] = reached[entity] + 1
            queue.append(other)
    return Graph(
        tuple(entity for entity in graph.entities if entity.id in reached),
        tuple(relation for relation in graph.relations if reached.keys() >= {relation.subject, relation.object}),
    )


def _is_called(entity: Entity, name: str) -> bool:
    return name == entity.id or name in map(normalise, (entity.name, *entity.aliases))


def _known_names(records: Sequence[MemoryRecord], *, at: datetime) -> dict[str, str]:
    """By word ("sister"), the name it stands for, where just one is told that holds."""
    names_by_word: dict[str, dict[str, str]] = {}
    for record in records:
        if record.valid_to is None or record.valid_to > at:
            for alias in _aliases(record):
                if means_one(alias.word):
                    names_by_word.setdefault(alias.word, {})[normalise(alias.name)] = alias.name
    return {word: next(iter(names.values())) for word, names in names_by_word.items() if len(names) == 1}


def _aliases(record: MemoryRecord) -> tuple[Alias, ...]:
    return (*of_value(record.attribute, record.value), *aliases(record.content))


class _Making:
    def __init__(self, owner_name: str, known_names: dict[str, str]) -> None:
        self._known_names = known_names
        self.entities: dict[str, Entity] = {SELF: Entity(SELF, owner_name, "person")}
        self.relations: list[Relation] = []

    def take(self, record: MemoryRecord) -> None:
        """Adds what one memory tells: no order, and of what a prompt quotes only values as short as a name."""
        if is_order(record) or (record.value and not is_brief(record.value) and source_of(record) is not None):
            return
        says = profile_statement(record)
        subject = SELF if says is None else self._subject(says, record)
        for word, name in dict.fromkeys((alias.word, alias.name) for alias in _aliases(record)):
            if record.attribute is None or word == record.attribute.rpartition(".")[0]:
                self._relate(record, SELF, relation=word, object_=self._named(name, kind_of(None, word), record=record))
        if record.attribute is not None and record.value and normalise(record.value) not in YES_NO:
            self._value(record, record.attribute, value=record.value)
        elif says is not None and record.polarity and record.type is MemoryType.PREFERENCE and record.value:
            relation = "likes" if record.polarity > 0 else "dislikes"
            self._relate(record, subject, relation=relation, object_=self._named(record.value, "topic", record=record))
        for thing in self._avoided(record):
            self._relate(record, subject, relation="avoids", object_=self._named(thing, "topic", record=record))
        for name in names(record.content):
            entity = self.entities.get(normalise(name))
            if entity is not None and record.id not in entity.memory_ids:
                entity.memory_ids.append(record.id)

    def _value(self, record: MemoryRecord, attribute: str, *, value: str) -> None:
        owner, _, name = attribute.rpartition(".")
        if owner.endswith("favourite") or owner == "favourite":
            owner, name = owner.removesuffix("favourite").rstrip("."), f"favourite {name}"
        if name in _NAMES and not owner:
            self._call_self(value, record)
        elif name not in _NAMES:
            subject = self._word(owner, record=record) if owner else SELF
            self._relate(record, subject, relation=name, object_=self._named(value, kind_of(attribute), record=record))

    def _subject(self, says: ProfileStatement, record: MemoryRecord) -> str:
        """Whom a statement without an attribute is about."""
        head, dot, _ = says.slot.partition(".")
        is_owned = dot and record.attribute is None and ":" not in head
        return self._word(head, record=record) if is_owned else SELF

    def _avoided(self, record: MemoryRecord) -> Iterator[str]:
        """What must be avoided and is named; what a diet excludes beside is not."""
        if record.type is MemoryType.CONSTRAINT and normalise(record.value or "") != "no":
            text = normalise(record.content)
            yield from (thing for thing in read_tastes([text]).avoids if thing in text)

    def _call_self(self, name: str, record: MemoryRecord) -> None:
        person = self.entities[SELF]
        if person.name != name:
            person.aliases = [*dict.fromkeys((*person.aliases, person.name))]
            person.name = name
        person.memory_ids.append(record.id)

    def _word(self, word: str, *, record: MemoryRecord) -> str:
        """Whoever a word stands for: somebody of a known name, or somebody who has only the word."""
        names_told = (
            alias.name for alias in aliases(record.content) if alias.word in word.split() or alias.word == word
        )
        name = next(names_told, None) or self._known_names.get(word)
        if name is not None:
            kind = next((kind_of(None, part) for part in (word, *word.split()) if is_word(part)), "person")
            return self._named(name, kind, record=record, alias=word if word in self._known_names else None)
        return self._named(word, kind_of(None, word), record=record)

    def _named(self, name: str, kind: str, *, record: MemoryRecord, alias: str | None = None) -> str:
        key = normalise(name).strip()
        existing = self.entities.get(key)
        if existing is not None and {existing.kind, kind} <= _BEINGS and existing.kind != kind:
            key = f"{key} ({kind})"  # a friend and a cat of one name
        entity = self.entities.setdefault(key, Entity(key, name, kind))
        if entity.kind in {"thing", "topic"}:
            entity.kind = kind
        if record.id not in entity.memory_ids:
            entity.memory_ids.append(record.id)
        words = [word for word, existing in self._known_names.items() if normalise(existing) == key]
        for word in (*words, *((alias,) if alias else ())):
            if word not in entity.aliases:
                entity.aliases.append(word)
        return key

    def _relate(self, record: MemoryRecord, subject: str, *, relation: str, object_: str) -> None:
        if subject != object_:
            since = record.valid_from or record.created_at
            self.relations.append(Relation(subject, relation, object_, record.id, since, record.valid_to))
            if subject == SELF and record.id not in self.entities[SELF].memory_ids:
                self.entities[SELF].memory_ids.append(record.id)
