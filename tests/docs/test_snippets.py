"""Every Python block of the documentation runs, so that what a reader copies works."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import REPOSITORY, blocks, pages

PAGE = """# Title
```python
x = 1
```

<!-- not run -->
```python
1 / 0
```

```sh
ls
```

```python
assert x == 2
```
"""


def snippets(page: Path) -> list[tuple[str, int]]:
    """Code and line of each Python block that runs."""
    found = blocks(page.read_text("utf-8"))
    return [(block.code, block.line) for block in found if block.language == "python" and block.runs]


def run(snippets: list[tuple[str, int]], *, name: str) -> None:
    """Runs the blocks of one page one after the other, as a reader would; errors point at the page's own lines."""
    names: dict[str, object] = {"__name__": "__main__"}
    for code, line in snippets:
        exec(compile("\n" * (line - 1) + code, name, "exec"), names)


@pytest.mark.parametrize("page", [page for page in pages() if snippets(page)], ids=lambda page: page.name)
def test_the_python_blocks_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    run(snippets(page), name=str(page.relative_to(REPOSITORY)))


def test_a_block_is_run_unless_the_page_says_otherwise(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert snippets(page) == [("x = 1\n", 3), ("assert x == 2\n", 16)]
    with pytest.raises(AssertionError) as failure:
        run(snippets(page), name="page.md")
    assert failure.traceback[-1].lineno == 16 - 1  # pytest counts from 0
