"""The service over HTTP: it translates requests into calls of the façade, and answers and errors back."""
