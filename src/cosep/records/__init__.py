"""Small frozen records of results, and the files that keep them."""
