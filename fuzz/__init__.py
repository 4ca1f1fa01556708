"""Fuzzing: hostile inputs for every public entry point, with the outcomes counted on one page."""
