"""What of the memories an assistant reads before it answers."""
