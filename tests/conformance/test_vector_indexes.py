"""Every vector index against the one contract. Those that need a server are tried by `make test-stores`."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, aclosing
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ebbing.ports.indexes.vector_index import VectorIndex
from ebbing.testing.vector_index_suite import ADA, VectorIndexSuite, seqs_of, vectors_of


class TestUsearch(VectorIndexSuite):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        if find_spec("usearch") is None:
            pytest.skip("usearch is not installed")
        self.folder = tmp_path / "vectors"

    def open_index(self) -> AbstractAsyncContextManager[VectorIndex]:
        from ebbing.adapters.vectors.usearch import UsearchIndex

        return aclosing(UsearchIndex(self.folder))

    def unreachable_index(self) -> VectorIndex:
        from ebbing.adapters.vectors.usearch import UsearchIndex

        index = UsearchIndex(self.folder)
        file = index._file(ADA)
        file.parent.mkdir(parents=True)
        file.write_bytes(b"no graph at all" * 100)
        return index

    @pytest.mark.anyio
    async def test_no_byte_of_a_removed_vector_is_left_in_the_file(self) -> None:
        vectors = vectors_of(300)
        async with self.open_index() as index:
            await index.upsert(ADA, np.arange(300), vectors=vectors)
            await index.save()
            file = next(self.folder.rglob("*.usearch"))
            from usearch.index import Index

            stored = {seq: np.asarray(Index.restore(str(file)).get(seq, dtype="i8")).tobytes() for seq in range(300)}
            assert all(stored[seq] in file.read_bytes() for seq in (4, 5, 250))
            for gone in ((4,), (5, 250), (7, 8, 9)):
                await index.delete(ADA.partition, seqs_of(*gone))
                await index.save()
            await index.upsert(ADA, seqs_of(5), vectors=vectors_of(1, seed=9))
            await index.upsert(ADA, seqs_of(11), vectors=vectors_of(1, seed=10))
            await index.save()
            content = file.read_bytes()
            assert [seq for seq, vector in stored.items() if vector not in content] == [4, 5, 7, 8, 9, 11, 250]
            assert await index.count(ADA) == 295


class TestUsearchWithTail(TestUsearch):
    """The same where what changes lies beside the graph, in its tail."""

    @pytest.fixture(autouse=True)
    def _tail(self, _folder: None, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ebbing.adapters.vectors.usearch.TAIL_FROM", 5)
        monkeypatch.setattr("ebbing.adapters.vectors.usearch.TAIL_ROWS", 20)

    def files(self) -> dict[str, int]:
        """The inodes of the files: a file that is written anew gets another one."""
        return {file.name.partition(".")[2]: file.stat().st_ino for file in self.folder.rglob("*.usearch")}

    @pytest.mark.anyio
    async def test_what_changes_is_found_while_the_graph_stays_as_it_is(self) -> None:
        vectors, newer = vectors_of(300), vectors_of(20, seed=9)
        async with self.open_index() as index, self.open_index() as other:
            await index.upsert(ADA, np.arange(300), vectors=vectors)
            await index.save()
            [graph] = self.files().items()
            for row in range(20):  # new ones, and others in place of those that are there
                seq = 300 + row if row % 2 else row
                await index.upsert(ADA, seqs_of(seq), vectors=newer[row : row + 1])
                await index.save()
                for some in (index, other):
                    assert (await some.search(ADA, newer[row], limit=5))[0] == seq
            assert graph in self.files().items()
            assert len(self.files()) == 2
            found = await other.search(ADA, vectors[0], limit=300)
            assert len(found) == len(set(found.tolist())) == 300
            assert found[0] != 0
            assert await index.count(ADA) == 310

    @pytest.mark.anyio
    async def test_the_graph_takes_in_a_full_tail(self) -> None:
        vectors = vectors_of(321)
        async with self.open_index() as index, self.open_index() as other:
            await index.upsert(ADA, np.arange(300), vectors=vectors[:300])
            await index.save()
            await index.upsert(ADA, np.arange(300, 320), vectors=vectors[300:320])
            await index.save()
            assert len(self.files()) == 2
            await index.upsert(ADA, seqs_of(320), vectors=vectors[320:])
            assert len(await other.search(ADA, vectors[310], limit=400)) == 320
            await index.save()
            assert len(self.files()) == 1
            assert [(await other.search(ADA, vectors[seq], limit=1))[0] for seq in (0, 310, 320)] == [0, 310, 320]
            assert await other.count(ADA) == 321

    @pytest.mark.anyio
    async def test_no_byte_of_a_removed_vector_is_left_in_the_file(self) -> None:
        vectors, newer = vectors_of(300), vectors_of(2, seed=9)
        async with self.open_index() as index:
            await index.upsert(ADA, np.arange(300), vectors=vectors)
            await index.save()
            await index.upsert(ADA, seqs_of(11, 300), vectors=newer)
            await index.save()
            stored = self.stored()
            assert len(stored) == 301
            assert len(stored[11]) == 2
            await index.delete(ADA.partition, seqs_of(5, 11, 300))
            await index.save()
            [file] = self.folder.rglob("*.usearch")
            content = file.read_bytes()
            left = {seq for seq, kept in stored.items() if any(vector in content for vector in kept)}
            assert left == set(range(300)) - {5, 11}
            assert await index.count(ADA) == 298

    def stored(self) -> dict[int, list[bytes]]:
        """The vectors of each row as they lie in the files."""
        from usearch.index import Index

        stored: dict[int, list[bytes]] = {}
        for file in self.folder.rglob("*.usearch"):
            index = Index.restore(str(file))
            for key in index.keys:
                stored.setdefault(int(key), []).append(np.asarray(index.get(int(key), dtype="i8")).tobytes())
        return stored
