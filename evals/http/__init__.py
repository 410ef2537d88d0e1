"""What the service costs beside a bare route, how it bears many clients, and what a kill takes with it."""
