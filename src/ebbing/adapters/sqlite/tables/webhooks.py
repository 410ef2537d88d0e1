"""Who wants to be told of what happens, in the same file as the memories."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from ebbing.adapters.sqlite.connection.connections import Connections
from ebbing.adapters.sqlite.connection.writer import GroupCommitWriter
from ebbing.index.shard import micros, moment
from ebbing.ports.stores.webhook_book import Webhook

_COLUMNS: Final = "id, tenant, url, topics, secret, created_at, updated_at, name, is_active"
_PUT: Final = (
    f"INSERT INTO webhook ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
    " ON CONFLICT (id) DO UPDATE SET url = excluded.url, topics = excluded.topics, secret = excluded.secret,"
    " updated_at = excluded.updated_at, name = excluded.name, is_active = excluded.is_active"
    " WHERE webhook.tenant = excluded.tenant"
)
_GET: Final = f"SELECT {_COLUMNS} FROM webhook WHERE tenant = ? AND id = ?"  # noqa: S608
_LIST: Final = f"SELECT {_COLUMNS} FROM webhook WHERE tenant = ? ORDER BY created_at, id"  # noqa: S608


class SqliteWebhookBook:
    """A `WebhookBook` over the table `webhook`."""

    def __init__(self, connections: Connections, writer: GroupCommitWriter) -> None:
        self._connections, self._writer = connections, writer

    async def put(self, webhook: Webhook) -> bool:
        values = (
            *(webhook.id, webhook.tenant, webhook.url, json.dumps(webhook.topics), webhook.secret),
            *(micros(webhook.created_at), micros(webhook.updated_at), webhook.name, webhook.is_active),
        )
        return await self._writer.run(lambda db: db.execute(_PUT, values).rowcount == 1)

    async def get(self, tenant: str, webhook_id: str) -> Webhook | None:
        with self._connections.reading() as db:
            row = db.execute(_GET, (tenant, webhook_id)).fetchone()
        return None if row is None else _webhook(row)

    async def list(self, tenant: str) -> list[Webhook]:
        with self._connections.reading() as db:
            return [_webhook(row) for row in db.execute(_LIST, (tenant,))]

    async def remove(self, tenant: str, webhook_id: str) -> bool:
        delete = "DELETE FROM webhook WHERE tenant = ? AND id = ?"
        return await self._writer.run(lambda db: db.execute(delete, (tenant, webhook_id)).rowcount == 1)


def _webhook(row: Sequence[Any]) -> Webhook:
    webhook_id, tenant, url, topics, secret, created, updated, name, is_active = row
    return Webhook(
        id=webhook_id,
        tenant=tenant,
        url=url,
        topics=tuple(json.loads(topics)),
        secret=secret,
        created_at=moment(created),
        updated_at=moment(updated),
        name=name,
        is_active=bool(is_active),
    )
