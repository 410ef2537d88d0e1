"""A year of invented people who talk to an assistant every day, in Chinese or English, with what is true of them."""
