"""Side by side with peers: measurements, the rows they leave in CSV files, and one page made of the rows."""
