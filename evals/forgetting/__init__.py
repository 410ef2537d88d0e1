"""What is left of what was said, and how much of it is found, when time passes and memory is looked after."""
