"""The house rules as functions: each takes one parsed file and yields what breaks it.

`tests/test_house_rules.py` runs every rule over the tree, and every rule over a sample that breaks it.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

FUNCTION_LINES = 60
COMPLEXITY = 10
ARGUMENTS = 8
POSITIONAL = 2
MODULE_LINES = 400
TEST_NAME_WORDS = 4

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Finding = tuple[int, str]
"""Line number and what is wrong there."""


@dataclass(frozen=True)
class Source:
    """One Python file. `path` is relative to the package (`recall/search.py`) or, for tests, to the repository."""

    path: str
    text: str
    contract_methods: frozenset[str] = field(default=frozenset())
    """Names of the methods that the ports declare: their contract is written there, once."""

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, filename=self.path)

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @property
    def functions(self) -> list[FunctionNode]:
        return [node for node in self.nodes if isinstance(node, FunctionNode)]

    @cached_property
    def methods(self) -> frozenset[FunctionNode]:
        return frozenset(
            item
            for node in self.nodes
            if isinstance(node, ast.ClassDef)
            for item in node.body
            if isinstance(item, FunctionNode)
        )

    @cached_property
    def imported(self) -> dict[str, str]:
        """What each imported name stands for: {"dt": "datetime", "uuid4": "uuid.uuid4"}."""
        names: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    whole = alias.name if alias.asname else alias.name.split(".")[0]
                    names[alias.asname or whole] = whole
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    names[alias.asname or alias.name] = f"{'.' * node.level}{node.module or ''}.{alias.name}"
        return names

    def within(self, *rooms: str) -> bool:
        """True if the file is one of these files or lies in one of these folders ("wiring/")."""
        return any(self.path == room or (room.endswith("/") and self.path.startswith(room)) for room in rooms)

    def meaning(self, node: ast.AST) -> str:
        """The dotted name that an expression refers to, through this file's imports; "" if it is none of them."""
        if isinstance(node, ast.Attribute):
            inner = self.meaning(node.value)
            return f"{inner}.{node.attr}" if inner else ""
        return self.imported.get(node.id, "") if isinstance(node, ast.Name) else ""


Rule = Callable[[Source], Iterator[Finding]]


# ── size and shape ───────────────────────────────────────────────────────────────────────────────────────────────────


def a_function_fits_one_screen(source: Source) -> Iterator[Finding]:
    for function in source.functions:
        length = (function.end_lineno or function.lineno) - function.lineno + 1
        if length > FUNCTION_LINES:
            yield function.lineno, f"{function.name} has {length} lines; at most {FUNCTION_LINES}"


def a_function_takes_few_paths(source: Source) -> Iterator[Finding]:
    branches = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case, ast.comprehension)
    for function in source.functions:
        complexity = 1 + sum(isinstance(node, branches) for node in ast.walk(function))
        if complexity > COMPLEXITY:
            yield function.lineno, f"{function.name} has complexity {complexity}; at most {COMPLEXITY}"


def a_function_takes_few_arguments(source: Source) -> Iterator[Finding]:
    for function in source.functions:
        given = function.args
        count = len(_positional(source, function)) + len(given.kwonlyargs)
        if count > ARGUMENTS:
            yield function.lineno, f"{function.name} takes {count} arguments; at most {ARGUMENTS}"


def arguments_after_the_second_are_named(source: Source) -> Iterator[Finding]:
    for function in source.functions:
        if function.name != "__init__" and _is_dunder(function.name):
            continue  # the language says what __exit__ and __setattr__ take
        count = len(_positional(source, function))
        if count > POSITIONAL:
            yield function.lineno, f"{function.name} takes {count} positional arguments; at most {POSITIONAL}"


def a_module_can_be_read_at_once(source: Source) -> Iterator[Finding]:
    if len(source.lines) > MODULE_LINES:
        yield MODULE_LINES + 1, f"the module has {len(source.lines)} lines; at most {MODULE_LINES}"


def _positional(source: Source, function: FunctionNode) -> list[ast.arg]:
    """Positional arguments without `self` or `cls`."""
    positional = [*function.args.posonlyargs, *function.args.args]
    static = any(source.meaning(d) == "" and ast.unparse(d) == "staticmethod" for d in function.decorator_list)
    return positional[1:] if function in source.methods and not static else positional


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


# ── the world outside ────────────────────────────────────────────────────────────────────────────────────────────────

UNREPEATABLE = re.compile(
    r"""os\.(environb?|getenvb?|putenv|unsetenv|urandom)
    |   datetime\.(datetime\.(now|utcnow|today)|date\.today)
    |   time\.(time|time_ns)
    |   uuid\.(getnode|uuid1|uuid4|uuid6|uuid7)
    |   secrets\.(?!compare_digest)\w+
    |   random\.(?!Random)\w+
    |   numpy\.random\.(?!default_rng|Generator)\w+""",
    re.VERBOSE,
)
GENERATORS = frozenset({"random.Random", "numpy.random.default_rng"})
"""No chance as long as they are given a seed."""
WORLD_ADAPTERS = re.compile(r"adapters/system/\w+\.py")


def the_world_comes_in_through_ports(source: Source) -> Iterator[Finding]:
    """No environment, "now" or chance but in `wiring/` and the adapters of the clock and the ids."""
    if source.within("wiring/") or WORLD_ADAPTERS.fullmatch(source.path):
        return
    for node in source.nodes:
        if isinstance(node, ast.Attribute | ast.Name) and UNREPEATABLE.fullmatch(source.meaning(node)):
            yield node.lineno, f"{source.meaning(node)} outside wiring/ and the adapters of clock and ids"
        if isinstance(node, ast.Call) and not node.args and source.meaning(node.func) in GENERATORS:
            yield node.lineno, f"{source.meaning(node.func)} without a seed"
        if isinstance(node, ast.keyword) and node.arg == "envvar":
            yield node.value.lineno, "envvar= reads the environment; settings do that in wiring/"


def imports_stand_at_the_top(source: Source) -> Iterator[Finding]:
    """Inside a function only in `wiring/`. The package root loads its public names late, so that importing is cheap."""
    if source.within("wiring/"):
        return
    for function in source.functions:
        for node in ast.walk(function):
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield node.lineno, f"import inside {function.name}; only wiring/ imports late"
    if not source.within("__init__.py"):
        for node in source.nodes:
            if isinstance(node, ast.Call) and _imports_by_name(source, node.func):
                yield node.lineno, "import by name; only wiring/ and the package root do that"


def _imports_by_name(source: Source, function: ast.expr) -> bool:
    builtin = isinstance(function, ast.Name) and function.id == "__import__"
    return builtin or source.meaning(function) == "importlib.import_module"


def the_domain_needs_only_the_standard_library(source: Source) -> Iterator[Finding]:
    if not source.within("domain/"):
        return
    for line, name in _imports(source):
        root = name.split(".")[0]
        if root not in sys.stdlib_module_names and not name.startswith("ebbing.domain"):
            yield line, f"the domain imports {name}"


def rooms_do_not_import_the_front_door(source: Source) -> Iterator[Finding]:
    """`from ebbing import Memory` would reach the top of the house from any room, unseen by the layers."""
    if source.within("interfaces/", "integrations/", "__main__.py"):
        return
    for line, name in _imports(source):
        parent, _, child = name.rpartition(".")
        if name == "ebbing" or (parent == "ebbing" and not child.islower()):
            yield line, f"imports {name} through the package root; name the module that defines it"


def _imports(source: Source) -> Iterator[tuple[int, str]]:
    for node in source.nodes:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────────────────────

BROAD = frozenset({"Exception", "BaseException"})


LARGEST_CACHE = 256


def large_caches_can_be_let_go(source: Source) -> Iterator[Finding]:
    """What many results are remembered of is somebody's words: an erasure must reach it."""
    if source.within("language/text/caches.py"):
        return
    for node in source.nodes:
        if isinstance(node, ast.Call) and source.meaning(node.func) == "functools.lru_cache":
            sizes = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "maxsize")]
            if not all(_is_small(size) for size in sizes):
                yield node.lineno, "a large lru_cache that no erasure reaches; use language/text/caches.py"


def _is_small(size: ast.expr) -> bool:
    return isinstance(size, ast.Constant) and isinstance(size.value, int) and size.value <= LARGEST_CACHE


MAY_CATCH_ALL = (
    "interfaces/",
    "client/",
    "recall/question.py",
    "recall/model_scores.py",
    "remember/facts/outdated_memories.py",
    "adapters/sqlite/connection/writer.py",
)


def errors_are_caught_by_name(source: Source) -> Iterator[Finding]:
    """A broad `except` stands only where one failure must not become everybody's, with its reason beside it. One that
    cleans up and raises again hides nothing."""
    allowed = source.within(*MAY_CATCH_ALL)
    for node in source.nodes:
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type) and not _raises_again(node):
            if not allowed:
                yield (
                    node.lineno,
                    f"broad except; only {', '.join(MAY_CATCH_ALL)} may",
                )
            elif not _has_reason(source, node.lineno):
                yield node.lineno, "broad except without its reason in a comment on the line or beside it"
        if not allowed and isinstance(node, ast.Call) and source.meaning(node.func) == "contextlib.suppress":
            broad = [argument for argument in node.args if _is_broad(argument)]
            yield from ((argument.lineno, "suppress(Exception) is a broad except") for argument in broad)


def _raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def _is_broad(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(_is_broad(element) for element in caught.elts)
    return caught is None or (isinstance(caught, ast.Name) and caught.id in BROAD)


DIRECTIVE = re.compile(r"^\s*(noqa|type: ignore)[^\s\w]*\s*([A-Z]+\d+,?\s*)*")


def _has_reason(source: Source, line: int) -> bool:
    """A comment with words on the line, the one before or the one after (`# noqa: BLE001` alone is no reason)."""
    around = source.lines[max(line - 2, 0) : line + 1]
    comments = (DIRECTIVE.sub("", text.partition("#")[2]) for text in around)
    return any(len(re.findall(r"\w+", comment)) >= 2 for comment in comments)


# ── names and words ──────────────────────────────────────────────────────────────────────────────────────────────────

EMPTY_NAMES = frozenset(
    {"utils", "util", "helpers", "helper", "common", "core", "manager", "managers", "engine", "misc", "v2"}
)


def names_say_what_a_thing_is(source: Source) -> Iterator[Finding]:
    for part in source.path.removesuffix(".py").split("/"):
        if EMPTY_NAMES & set(part.lower().split("_")):
            yield 1, f"the name {part!r} says nothing"
    for node in source.nodes:
        if isinstance(node, ast.ClassDef) and EMPTY_NAMES & {word.lower() for word in _camel_words(node.name)}:
            yield node.lineno, f"the class name {node.name} says nothing"
        if isinstance(node, FunctionNode):
            words = node.name.strip("_").split("_")
            if words[0] in {"process", "handle"} or words[-1] == "v2":
                yield node.lineno, f"{node.name} does not say what comes back"


def _camel_words(name: str) -> list[str]:
    return re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])\d*", name)


BANNED_NAMES = frozenset(
    """one told said found kept given wanted known held asked heard there whose among around beside how what""".split()
)
"""Names that do not say what a thing is: participles in the place of nouns, `one` for an element, question words."""


def a_name_is_a_noun_or_a_verb(source: Source) -> Iterator[Finding]:
    """The names that a file gives: of modules, classes, functions, parameters, variables and attributes."""
    module = source.path.removesuffix(".py").rpartition("/")[2]
    if module in BANNED_NAMES:
        yield 1, f"the module name {module!r} does not say what it holds"
    for node in source.nodes:
        name = bound_name(node)
        if name is not None and name.strip("_").lower() in BANNED_NAMES:
            line = getattr(node, "lineno", 1)
            yield line, f"the name {name!r} does not say what it is; docs/glossary.md has the words"


def bound_name(node: ast.AST) -> str | None:
    """The name that a node gives to something, if it does."""
    if isinstance(node, FunctionNode | ast.ClassDef | ast.MatchAs | ast.MatchStar | ast.ExceptHandler):
        return node.name
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return node.attr
    return None


def the_public_is_documented(source: Source) -> Iterator[Finding]:
    """Modules, public classes and functions. Exempt: Protocol members that their Protocol explains, dunders, property
    setters, overloads, methods of adapters and fakes whose contract stands in a port, and the tests of the shipped
    suites, whose names are sentences."""
    if ast.get_docstring(source.tree) is None:
        yield 1, "the module has no docstring"
    yield from _undocumented(source, source.tree.body, prefix="")


def _undocumented(source: Source, body: list[ast.stmt], *, prefix: str) -> Iterator[Finding]:
    for node in body:
        if not isinstance(node, FunctionNode | ast.ClassDef) or node.name.startswith("_") or _is_exempt(source, node):
            continue
        if ast.get_docstring(node) is None:
            yield node.lineno, f"{prefix}{node.name} has no docstring"
        if isinstance(node, ast.ClassDef) and not _is_protocol(node):
            yield from _undocumented(source, node.body, prefix=f"{node.name}.")


def _is_exempt(source: Source, node: FunctionNode | ast.ClassDef) -> bool:
    decorators = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    from_port = (
        node in source.methods and source.within("adapters/", "testing/") and node.name in source.contract_methods
    )
    is_suite_test = source.within("testing/") and node.name.startswith("test_")
    return from_port or is_suite_test or bool(decorators & {"overload", "setter", "override"})


def _is_protocol(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).split("[")[0].rpartition(".")[2] == "Protocol" for base in node.bases)


def protocol_methods(source: Source) -> set[str]:
    """The names that the Protocols of a file declare."""
    protocols = [node for node in source.nodes if isinstance(node, ast.ClassDef) and _is_protocol(node)]
    return {item.name for node in protocols for item in node.body if isinstance(item, FunctionNode)}


# ── tests ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def a_test_reads_as_a_sentence(source: Source) -> Iterator[Finding]:
    for function in source.functions:
        if function.name.startswith("test_"):
            words = function.name.removeprefix("test_").split("_")
            if len(words) < TEST_NAME_WORDS:
                yield function.lineno, f"{function.name} is no sentence: at least {TEST_NAME_WORDS} words after test_"


def unit_tests_use_fakes_instead_of_mocks(source: Source) -> Iterator[Finding]:
    if source.within("tests/unit/"):
        for line, name in _imports(source):
            if name.startswith(("unittest.mock", "mock.")) or name == "mock":
                yield line, f"imports {name}; use a fake from ebbing.testing"


RULES_FOR_THE_PACKAGE: tuple[Rule, ...] = (
    a_function_fits_one_screen,
    a_function_takes_few_paths,
    a_function_takes_few_arguments,
    arguments_after_the_second_are_named,
    a_module_can_be_read_at_once,
    the_world_comes_in_through_ports,
    imports_stand_at_the_top,
    the_domain_needs_only_the_standard_library,
    rooms_do_not_import_the_front_door,
    large_caches_can_be_let_go,
    errors_are_caught_by_name,
    names_say_what_a_thing_is,
    the_public_is_documented,
)
RULES_WITH_A_RATCHET: tuple[Rule, ...] = (a_name_is_a_noun_or_a_verb,)
RULES_FOR_TESTS: tuple[Rule, ...] = (a_test_reads_as_a_sentence, unit_tests_use_fakes_instead_of_mocks)

BANNED_NAMES_LEFT: Mapping[str, int] = {}
"""By room, how many banned names are left. The numbers may only fall; a room that is not named has none."""


MAX_MODULES = 12


def crowded_folders(paths: Iterable[str]) -> list[str]:
    """Folders that hold more modules than they may, `__init__.py` not counted."""
    modules = (path.rpartition("/")[0] for path in paths if not path.endswith("__init__.py"))
    counts = Counter(modules)
    return [
        f"{folder}: {count} modules, at most {MAX_MODULES}"
        for folder, count in sorted(counts.items())
        if count > MAX_MODULES
    ]


MAX_DATA_LINE = 200
"""Characters. A long text goes on over several lines of a TOML file between three quotes, each ended by a backslash."""


def long_data_lines(text: str) -> list[tuple[int, int]]:
    """The lines of a data file that are longer than they may be: number and length."""
    lines = enumerate(text.splitlines(), 1)
    return [(number, len(line)) for number, line in lines if len(line) > MAX_DATA_LINE]


MAX_CHARACTERS_A_LINE = 43.0
"""On average over all lines of code. It may only fall; the aim is 35."""
MAX_COMPREHENSIONS = 40.7
"""In a thousand lines of code. It may only fall; the aim is 15."""
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def density(sources: Iterable[Source]) -> tuple[float, float]:
    """Characters a line of code, and comprehensions in a thousand lines; blank lines, comments and docstrings apart."""
    lines, characters, comprehensions = 0, 0, 0
    for source in sources:
        texts = {
            number
            for node in source.nodes
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        for number, line in enumerate(source.lines, 1):
            code = line.strip()
            if code and not code.startswith("#") and number not in texts:
                lines += 1
                characters += len(code)
        comprehensions += sum(isinstance(node, _COMPREHENSIONS) for node in source.nodes)
    return characters / max(lines, 1), 1_000 * comprehensions / max(lines, 1)
