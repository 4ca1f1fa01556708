"""The tables and figures of Pan and Ng (2023), rebuilt from the data by ``make paper``.

An experiment is a module with a docstring that says what is run, a number ``VERSION`` that changes when old rows are no
longer valid, a generator ``cells(tiny)`` of keys, a function ``run(key)`` that returns the numbers of one cell, and a
function ``section(rows, folder)`` that draws figures into a folder and returns the text for the page.
"""
