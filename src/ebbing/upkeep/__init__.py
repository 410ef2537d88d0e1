"""What is done while nobody asks: reading again, fading, merging, clearing."""
