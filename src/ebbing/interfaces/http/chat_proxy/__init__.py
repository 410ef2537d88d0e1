"""The remembering proxy: an OpenAI-compatible endpoint in front of another, with a memory."""
