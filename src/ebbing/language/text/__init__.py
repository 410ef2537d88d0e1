"""Analysis, sentences, numbers, tokens and compression of texts."""
