"""fading."""
