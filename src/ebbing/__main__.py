"""`python -m ebbing`."""

from __future__ import annotations

from ebbing.wiring.entry import main

main()
