"""What a person wants to know of a fit, as plain data."""
