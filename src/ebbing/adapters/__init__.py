"""Technologies behind the ports, one a file; only the composition root names them."""
