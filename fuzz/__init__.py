"""Fuzzing: hostile inputs for every entrance of the project, the outcomes counted on one page."""
