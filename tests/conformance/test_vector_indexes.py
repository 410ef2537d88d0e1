"""Every vector index against the one contract. Those that need a server are tried by `make test-stores`."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, aclosing
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ebbing.ports.vector_index import VectorIndex
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
