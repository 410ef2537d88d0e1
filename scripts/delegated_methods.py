"""Lets the generated reference show methods that stand in a class as `name = _delegate(Service.name, …)`.

mkdocstrings reads the code without running it, so it sees an assignment there. This extension of its reader, Griffe,
puts the method that is delegated to in the place of the assignment.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Final

from griffe import Attribute, Class, ExprCall, Extension, Function, Module

_AWAITED: Final = "_delegate"
_BLOCKING: Final = "_blocking"


class DelegatedMethods(Extension):
    """Puts methods in the place of assignments that delegate to them."""

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        """Resolve the assignments of a loaded package, in any order of its classes."""
        _resolve_module(pkg)


def _resolve_module(module: Module) -> None:
    for member in list(module.members.values()):
        if isinstance(member, Module):
            _resolve_module(member)
        elif isinstance(member, Class):
            for name in list(member.members):
                _resolved(member, name)


def _resolved(owner: Class, name: str) -> Function | None:
    """Return the method of a class, put in the place of an assignment where there was one."""
    member = owner.members.get(name)
    if isinstance(member, Function):
        return member
    if not isinstance(member, Attribute) or not isinstance(member.value, ExprCall):
        return None
    maker = str(member.value.function)
    if maker not in {_AWAITED, _BLOCKING}:
        return None
    service, _, method_name = str(member.value.arguments[0]).rpartition(".")
    target = owner.module.modules_collection[owner.module.resolve(service)]
    method = _resolved(target, method_name)
    if method is None:
        return None
    twin = copy(method)
    twin.lineno, twin.endlineno = member.lineno, member.endlineno  # the order of the class
    twin.name, twin.labels = name, set(method.labels) - ({"async"} if maker == _BLOCKING else set())
    owner.set_member(name, twin)
    return twin
