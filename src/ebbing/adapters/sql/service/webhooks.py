"""Who wants to be told of what happens, beside the memories."""

from __future__ import annotations

import json
from typing import Any, Final

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from ebbing.adapters.sql.connection.database import Database
from ebbing.adapters.sql.tables.service_tables import WEBHOOK
from ebbing.index.shard import micros, moment
from ebbing.ports.stores.webhook_book import Webhook

_OF_TENANT: Final = WEBHOOK.c.tenant == bindparam("of_tenant")
_OF_ID: Final = WEBHOOK.c.id == bindparam("of_id")
_GET: Final = select(WEBHOOK).where(_OF_TENANT, _OF_ID)
_LIST: Final = select(WEBHOOK).where(_OF_TENANT).order_by(WEBHOOK.c.created_at, WEBHOOK.c.id)
_REMOVE: Final = delete(WEBHOOK).where(_OF_TENANT, _OF_ID)
_CHANGED: Final = ("url", "topics", "secret", "updated_at", "name", "is_active")
_CHANGE: Final = update(WEBHOOK).where(_OF_TENANT, _OF_ID).values({name: bindparam(f"new_{name}") for name in _CHANGED})
_TENANT: Final = select(WEBHOOK.c.tenant).where(_OF_ID).with_for_update()


class SqlWebhookBook:
    """A `WebhookBook` over the table `webhook`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, webhook: Webhook) -> bool:
        values: dict[str, Any] = {
            "url": webhook.url,
            "topics": json.dumps(webhook.topics),
            "secret": webhook.secret,
            "updated_at": micros(webhook.updated_at),
            "name": webhook.name,
            "is_active": int(webhook.is_active),
        }

        async def work(db: AsyncConnection) -> bool:
            tenant = (await db.execute(_TENANT, {"of_id": webhook.id})).scalar()
            if tenant is None:
                created = {"id": webhook.id, "tenant": webhook.tenant, "created_at": micros(webhook.created_at)}
                await db.execute(insert(WEBHOOK), {**values, **created})
            elif tenant == webhook.tenant:
                changed = {f"new_{name}": value for name, value in values.items()}
                await db.execute(_CHANGE, {"of_tenant": tenant, "of_id": webhook.id, **changed})
            return tenant in {None, webhook.tenant}

        return await self._database.write(work)

    async def get(self, tenant: str, webhook_id: str) -> Webhook | None:
        row = await self._database.row(_GET, {"of_tenant": tenant, "of_id": webhook_id})
        return None if row is None else _webhook(row)

    async def list(self, tenant: str) -> list[Webhook]:
        return [_webhook(row) for row in await self._database.rows(_LIST, {"of_tenant": tenant})]

    async def remove(self, tenant: str, webhook_id: str) -> bool:
        async def work(db: AsyncConnection) -> bool:
            return (await db.execute(_REMOVE, {"of_tenant": tenant, "of_id": webhook_id})).rowcount == 1

        return await self._database.write(work)


def _webhook(row: Any) -> Webhook:
    return Webhook(
        id=row.id,
        tenant=row.tenant,
        url=row.url,
        topics=tuple(json.loads(row.topics)),
        secret=row.secret,
        created_at=moment(row.created_at),
        updated_at=moment(row.updated_at),
        name=row.name,
        is_active=bool(row.is_active),
    )
