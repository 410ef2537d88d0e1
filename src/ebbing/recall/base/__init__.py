"""Settings, fusion, filters and time of a search."""
