"""Threads and loops behind the methods."""
