"""Moving a whole store at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ebbing import Memory
from ebbing.interfaces.cli.app import run


@pytest.fixture
def house(tmp_path: Path) -> Path:
    with Memory(tmp_path / "house", embedder="none") as memory:
        memory.add("I live in Leeds", user_id="ada")
    return tmp_path / "house"


def moved(house: Path, target: Path | str, *options: str) -> int:
    return run(["move", "--from", str(house), "--to", str(target), *options])


def test_a_store_is_moved_and_what_came_of_it_is_said(
    house: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert moved(house, tmp_path / "new") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"{house} and {tmp_path / 'new'} hold the same " in out
    with Memory(tmp_path / "new", embedder="none") as memory:
        assert memory.get_all(user_id="ada")["results"]


def test_two_stores_are_compared_without_moving_anything(
    house: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved(house, tmp_path / "new")
    assert moved(house, tmp_path / "new", "--compare") == 0
    with Memory(tmp_path / "new", embedder="none") as memory:
        memory.add("I live in Berlin", user_id="ada")
    capsys.readouterr()
    assert moved(house, tmp_path / "new", "--compare") == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "owner: 1 rows here and 1 there are not the same" in out
    assert "do not hold the same" in out
    assert moved(house, tmp_path / "new", "--compare", "--json") == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["is_equal"], answer["moved_rows"]) == (False, 0)
    assert {"table": "api_key", "rows": 0, "target_rows": 0, "is_equal": True} in answer["tables"]


@pytest.mark.parametrize(
    ("source", "target", "says"),
    [
        ("house", "house", "to where it is"),
        ("missing", "new", "there is no store in"),
        ("house", "oracle://ada:s3cret@host/db", "no store of the kind oracle"),
        ("house", "postgresql://ada:s3cret@127.0.0.1:9/memories", "cannot be reached"),
        ("mysql://ada:s3cret@127.0.0.1:9/memories", "new", "cannot be reached"),
        ("house", "house/ebbing.db", "the directory of the new store cannot be used"),
    ],
)
def test_what_cannot_be_moved_is_said_in_a_line(
    source: str, target: str, says: str, house: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = [name if "://" in name else str(house.parent / name) for name in (source, target)]
    assert run(["move", "--from", places[0], "--to", places[1]]) in {1, 2}
    line = capsys.readouterr().err
    assert says in line
    assert "s3cret" not in line
