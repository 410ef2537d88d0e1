"""Messages parsed, screened and split."""
