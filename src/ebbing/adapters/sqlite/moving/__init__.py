"""Reads and fills the tables as a whole, to move a store into another one."""
