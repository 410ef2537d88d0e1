"""What a text shows of its speaker and its question: tastes, hedges, names, vagueness."""
