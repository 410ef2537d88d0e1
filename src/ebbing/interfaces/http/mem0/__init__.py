"""The routes that mem0's own clients call, and those of its open-source server, in their shapes."""
