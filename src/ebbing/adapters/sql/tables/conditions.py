"""What statements have in common: whose rows they see, and how many values one of them can name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

from sqlalchemy import ColumnElement, Table, and_, bindparam, or_

from ebbing.adapters.sql.tables.columns import DIGEST, NAME
from ebbing.domain.memory.scope import Owner, Scope

_Item = TypeVar("_Item")

MOST_VALUES: Final = 5_000
"""Values that one statement names in a list."""
REACH: Final = "reach"
"""The execution option of a statement that is not about one owner; it says of what it is, and why."""


def of_owner(table: Table) -> ColumnElement[bool]:
    """The rows of the owner that is bound to `of_tenant` and `of_owner`."""
    return and_(
        table.c.tenant == bindparam("of_tenant", type_=NAME), table.c.owner == bindparam("of_owner", type_=DIGEST)
    )


def covered(table: Table) -> ColumnElement[bool]:
    """The rows of the agent and the run of a scope, where it names them."""
    return and_(*(_fits(table.c[f"{part}_id"], part) for part in ("agent", "run")))


def same_row(table: Table, other: Table) -> ColumnElement[bool]:
    """The row of another table with the same key; both name the owner, so that a spread table is joined in place."""
    return and_(*(table.c[name] == other.c[name] for name in ("tenant", "owner", "seq")))


def is_in(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """Whether a column has one of the values of a list."""
    return column.in_(bindparam(name, expanding=True))


def optional(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """Whether a column has a value, where one is given."""
    return _fits(column, name)


def key_of(owner: Owner) -> dict[str, Any]:
    """The values of `of_owner`."""
    return {"of_tenant": owner.tenant, "of_owner": owner.digest}


def names_of(scope: Scope) -> dict[str, Any]:
    """The values of `of_owner` and `covered`."""
    return {**key_of(scope.owner), "agent": scope.agent_id, "run": scope.run_id}


def chunks(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    """A list in parts that a statement can name."""
    for start in range(0, len(items), MOST_VALUES):
        yield items[start : start + MOST_VALUES]


def _fits(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    value = bindparam(name, type_=column.type)
    return or_(value.is_(None), column == value)
