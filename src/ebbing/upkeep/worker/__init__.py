"""The worker: schedule, stop signal and pace."""
