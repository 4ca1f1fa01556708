"""Small helpers for all rooms: messages, warnings, optional imports, atomic writes, checked paths and columns, ties."""
