"""Whether the chance that a memory is needed again is told rightly."""
