"""How a database server is reached: addresses, pools, dialects, errors, the version of the schema."""
