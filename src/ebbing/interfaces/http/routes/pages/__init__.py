"""Pages for people: the console and the API reference, from files of this package."""
