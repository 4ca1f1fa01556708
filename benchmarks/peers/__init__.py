"""Comparison of `cosep` with the tools that people would use instead: ``python -m benchmarks.peers``.

Five questions, one file each (`representatives`, `panels`, `coclusters`, `topics`, `pure`), and `scale`. Every tool
gets the same data and the same number k, in a process of its own on one thread with limits of time and memory; what it
selects is judged in one way for all. Rows are in ``results``; ``docs/which-tool.md`` is made from them alone.
"""
