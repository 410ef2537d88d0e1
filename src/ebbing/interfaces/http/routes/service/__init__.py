"""Routes about the service and the whole tenant: health, keys, jobs, metrics, webhooks."""
