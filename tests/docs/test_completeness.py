"""Every error, command and setting appears in the documentation: what is undocumented does not exist for a reader."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

import pytest

from ebbing import Memory
from ebbing.domain import errors
from ebbing.domain.errors import EbbingError
from ebbing.wiring.build import build, load_settings
from tests.docs.pages import REPOSITORY, mentions, pages, rows


def all_pages() -> str:
    return "\n".join(page.read_text("utf-8") for page in pages())


def optional(module: str, name: str) -> Any:
    """An attribute of a room that may not be built yet; skips visibly until it is."""
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise
        pytest.skip(f"{module} does not exist yet")


def documented_errors() -> list[type[EbbingError]]:
    return [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, EbbingError)]


@pytest.mark.parametrize("kind", documented_errors(), ids=lambda kind: kind.__name__)
def test_every_error_is_explained_with_its_code(kind: type[EbbingError]) -> None:
    table = {row[0]: row[1:] for row in rows((REPOSITORY / "docs" / "errors.md").read_text("utf-8"))}
    assert kind.__name__ in table, f"docs/errors.md does not explain {kind.__name__}"
    assert table[kind.__name__][0] == kind.code
    assert kind.__doc__


def test_no_two_errors_share_a_code() -> None:
    codes = [kind.code for kind in documented_errors()]
    assert len(codes) == len(set(codes))


def test_errors_are_defined_in_the_one_tree_only() -> None:
    def below(kind: type[EbbingError]) -> Iterator[type[EbbingError]]:
        for child in kind.__subclasses__():
            yield child
            yield from below(child)

    elsewhere = [kind for kind in below(EbbingError) if kind.__module__ != errors.__name__]
    assert elsewhere == []


def test_every_command_is_documented_with_its_options() -> None:
    app = optional("ebbing.interfaces.cli.app", "app")
    group = importlib.import_module("typer.main").get_command(app)
    text = all_pages()
    missing = []
    for name, command in sorted(group.commands.items()):
        if not mentions(f"ebbing {name}", text):
            missing.append(f"ebbing {name}")
        options = [option for parameter in command.params for option in parameter.opts if option.startswith("--")]
        missing += [
            f"ebbing {name} {option}" for option in options if not mentions(option, text) and option != "--help"
        ]
    assert missing == [], f"no page of docs/ mentions {missing}"


def test_every_setting_is_documented_with_its_default() -> None:
    settings = optional("ebbing.wiring.config.settings", "Settings")
    prefix = settings.model_config.get("env_prefix", "").upper()
    table = rows((REPOSITORY / "docs" / "settings.md").read_text("utf-8"))[1:]
    documented = {variable: default for variable, default, _ in table}
    real = {
        f"{prefix}{name.upper()}": "none" if field.default is None else str(field.default)
        for name, field in settings.model_fields.items()
    }
    assert documented == real


def verbs() -> list[str]:
    """Every verb of the API, those of a namespace behind its name."""
    with Memory(components=build(load_settings({"store": "ephemeral", "embedder": "none"}))) as memory:
        namespaces = {name: value for name, value in vars(memory).items() if not name.startswith("_")}
    flat = [name for name in dir(Memory) if not name.startswith("_") and name != "components"]
    return flat + [f"{name}.{verb}" for name, value in namespaces.items() for verb in dir(value) if verb[0] != "_"]


def test_every_verb_of_the_api_is_documented() -> None:
    text = all_pages()
    missing = [verb for verb in verbs() if not re.search(rf"(?<![\w-]){re.escape(verb)}(?![\w-])", text)]
    assert missing == [], f"no page of docs/ mentions {missing}"


def test_every_name_that_the_glossary_gives_exists_in_the_code() -> None:
    code = "\n".join(path.read_text("utf-8") for path in (REPOSITORY / "src").rglob("*.py"))
    cells = [row[2] for row in rows((REPOSITORY / "docs" / "glossary.md").read_text("utf-8")) if row[0] != "word"]
    names = {name for cell in cells for name in re.findall(r"[\w./]+", cell.replace("()", ""))}
    assert len(names) >= 40
    missing = [name for name in names if not mentions(name.rpartition(".")[2], code) and "/" not in name]
    assert missing == []
