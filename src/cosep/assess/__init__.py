"""How many rows and columns to select, why these, and how sure the selection is."""
