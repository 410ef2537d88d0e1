"""Export and import, API keys and the audit log."""
