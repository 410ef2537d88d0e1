"""What every request passes: admission, authentication, limits, idempotency, the access log."""
