"""Hooks: commands that a host runs at moments of a conversation, so that memory is used without the model's doing.

Apart from `direct.py` these modules need the standard library alone: a host waits for them, and Python's start counts.
"""
