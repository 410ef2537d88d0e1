"""Forgetting curves, stages, importance and the policy of maintenance."""
