"""What an assistant does with what is known of a person."""
