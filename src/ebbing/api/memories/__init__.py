"""The verbs about memories: write, search, explain, give feedback, prepare a prompt."""
