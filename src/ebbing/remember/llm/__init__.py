"""The way in with a language model: reading conversations, deciding about facts. Nothing here ever raises a
`ModelError`: what a model did not do comes back as a value, and the caller goes on without it."""
