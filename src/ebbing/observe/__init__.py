"""Telling how the memory is doing, without telling of anybody."""
