"""Connecting a host: its configuration files get what starts the memory, and keep everything else."""
