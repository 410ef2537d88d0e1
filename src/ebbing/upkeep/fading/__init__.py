"""How memories fade, stage by stage."""
