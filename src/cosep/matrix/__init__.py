"""The few questions that the algorithms ask of a data matrix."""
