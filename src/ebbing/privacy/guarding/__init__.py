"""Trust, orders, quotation and what is off the record."""
