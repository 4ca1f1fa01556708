"""What every room may use: messages, checked paths, files written as a whole, ties, types."""
