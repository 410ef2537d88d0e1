"""The `ebbing` command."""
