"""Tokens that the service accepts and webhooks that it sends."""
