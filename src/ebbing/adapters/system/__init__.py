"""Clock, identifiers, randomness, events and forks of this process."""
