"""Bodies, answers and the OpenAPI document."""
