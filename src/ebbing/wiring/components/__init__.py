"""Parts that the composition root builds."""
