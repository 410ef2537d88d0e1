"""What every call shares: its context, its measure, its way from the façade to a service."""
