"""Limits on the memory that the contents of a file may take."""

import os
import sys

# The content of a file may take the larger of this many bytes and this many times its size on disk. Sound data rarely
# needs more; a file that is made to exhaust memory does.
LARGEST_UNPACKED = 1 << 30
LARGEST_RATIO = 200


def most_bytes(file_size: int) -> int:
    """Return how many bytes of memory the content of a file of this size may take."""
    return max(LARGEST_UNPACKED, LARGEST_RATIO * file_size)


def growth_problem(n_bytes: int, file_size: int, what: str) -> str:
    """Return why a content of ``n_bytes`` is too large for a file of this size, or "" if it is not."""
    if n_bytes <= most_bytes(file_size):
        return ""
    return f"{what} would take {n_bytes:.3g} bytes, from a file of {file_size}; is the file sound?"


def memory_problem(n_bytes: int, file_size: int, what: str) -> str:
    """Return why a content of ``n_bytes`` is too large for the file or for this machine, or "" if it is not."""
    if problem := growth_problem(n_bytes, file_size, what):
        return problem
    if n_bytes > (memory := machine_memory()):
        return f"{what} would take {n_bytes:.3g} bytes, while this machine has {memory:.3g}; take a part of it."
    return ""


def machine_memory() -> int:
    """Return the memory of this machine in bytes, or a very large number if it is not known."""
    if not hasattr(os, "sysconf"):
        return sys.maxsize
    return int(os.sysconf("SC_PHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE"))
