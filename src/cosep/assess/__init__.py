"""Assessment of a selection: how many rows and columns, what each explains, and how stable the choice is."""
