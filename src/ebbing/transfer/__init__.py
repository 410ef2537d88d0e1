"""Memories and chats as files: our own lossless lines, and what other programs export."""
