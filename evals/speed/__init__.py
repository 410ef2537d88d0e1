"""How long `add` and `search` take, beside the floors that no implementation can pass."""
