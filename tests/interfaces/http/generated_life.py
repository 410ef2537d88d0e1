"""Run beside a client that openapi-python-client made of the service's document: add, search, get, delete, an error."""

from __future__ import annotations

import sys

from ebbing_client import AuthenticatedClient, Client
from ebbing_client.api.memories import add_memory, delete_memory, get_memory, search_memories
from ebbing_client.models import (
    AddBody,
    AddResponse,
    DeleteResponse,
    MemoryOut,
    ProblemBody,
    SearchBody,
    SearchResponse,
)


def live(address: str, key: str) -> None:
    """Use the client once for each kind of call."""
    client = AuthenticatedClient(base_url=address, token=key)
    added = add_memory.sync(client=client, body=AddBody(user_id="emma", text="User plays the cello"))
    assert isinstance(added, AddResponse), added
    assert added.id, added

    found = search_memories.sync(client=client, body=SearchBody(user_id="emma", query="cello"))
    assert isinstance(found, SearchResponse), found
    assert [memory.id for memory in found.memories] == [added.id], found

    memory = get_memory.sync(added.id, client=client)
    assert isinstance(memory, MemoryOut), memory
    assert memory.text == "User plays the cello", memory

    assert isinstance(delete_memory.sync(added.id, client=client), DeleteResponse)
    missing = get_memory.sync(added.id, client=client)
    assert isinstance(missing, ProblemBody), missing
    assert missing.code == "memory_not_found", missing

    stranger = get_memory.sync_detailed(added.id, client=Client(base_url=address))
    assert stranger.status_code == 401, stranger
    assert isinstance(stranger.parsed, ProblemBody), stranger


live(sys.argv[1], sys.argv[2])
sys.stdout.write("lived\n")
