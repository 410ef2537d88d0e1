"""What people see who look into a memory."""
