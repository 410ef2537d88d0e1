"""`ebbing` as a next version would be, whose layout is one more than today's: `next_layout/expand.py`."""

from __future__ import annotations

from pathlib import Path

from alembic.config import Config

from ebbing.adapters.sql.connection import schema
from ebbing.interfaces.cli.app import main

NEXT = "9999"
_upgrade = schema.command.upgrade


def upgrade(config: Config, revision: str) -> None:
    """Look for migrations in one more folder."""
    today = Path(str(config.get_main_option("script_location")), "versions")
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", f"{today}\n{Path(__file__).with_name('next_layout')}")
    _upgrade(config, revision)


if __name__ == "__main__":
    vars(schema)["LAYOUTS"] = (*schema.LAYOUTS, NEXT)
    schema.command.upgrade = upgrade
    main()
