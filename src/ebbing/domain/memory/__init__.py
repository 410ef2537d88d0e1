"""Records, scopes, messages, history, profiles and change sets."""
