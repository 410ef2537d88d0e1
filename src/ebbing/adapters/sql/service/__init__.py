"""What the service keeps beside the memories: jobs, keys, requests, webhooks, acts, counts of use."""
