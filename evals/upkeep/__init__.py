"""How long the upkeep takes, and what those who search meanwhile notice of it."""
