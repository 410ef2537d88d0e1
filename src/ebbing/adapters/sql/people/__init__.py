"""Names of persons, persons made one, and profiles."""
