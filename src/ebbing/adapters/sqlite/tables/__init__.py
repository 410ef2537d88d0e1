"""Everything beside memories in the SQLite file: jobs, keys, identities, profiles, usage."""
