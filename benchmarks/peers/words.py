"""The sentences of the page that are not computed from rows."""

HEAD = """# cosep or X?

What would people use instead of `cosep`, and what would they gain or lose? This page compares `cosep` with other tools
on five questions and on scale: the same data, the same number k of rows, columns or clusters, one judge for all. Each
tool runs with its defaults and with what its documentation recommends for such data, in a process of its own on one
thread. No tool sees classes. Tools that draw random numbers have five seeds (slow ones two, BiAA one), and the figures
are means.

`make peers-full` measures what is missing and writes this page: every figure is computed from the
[rows](../benchmarks/peers/results). `make peers` runs a short version into `.venv/peers/short`.
"""
HOW = """Bars: first, or within 1 % of the first, on representatives and on panels (with the decoder that is best
for all panels on average), and first on co-clusters, each averaged over the sets. Only tools that finished all sets can
be first; on co-clusters, only those that label rows and columns (k-means labels rows alone).
"""
TITLES = {
    "nmi": "normalized mutual information x 100",
    "ari": "adjusted Rand index x 100",
    "accuracy": "accuracy of rows, %",
    "column_accuracy": "accuracy of columns, %",
    "npmi": "NPMI of the first ten words x 100",
    "diversity": "words in one topic only, %",
}
# When a person should prefer a tool; the page puts the figures beside it.
CHOOSE = {
    "k-means": "clusters of rows alone, of any number of rows; its centres are not rows",
    "kmedoids": "typical rows by a distance of your own, which need not be Euclidean; keeps all distances",
    "submodlib": "other objectives of subsets, such as diversity or coverage; keeps all similarities",
    "apricot": "the same in pure Python; not maintained",
    "archetypes AA": "extreme, not typical, mixtures of rows",
    "archetypes ADA": "extreme real rows of tables with a hundred rows",
    "archetypes BiAA": "extreme profiles of both sides of small tables",
    "scikit-matter CUR": "columns or rows of data with negative entries, in a scikit-learn pipeline",
    "scikit-matter FPS": "rows that are far from each other, in next to no time",
    "fastcan": "columns that predict given targets, or the principal components; very fast",
    "SEACells": "metacells: many small groups of cells that are averaged",
    "spapros": "probe sets for spatial transcriptomics, with types of cells and rules for probes",
    "SpectralCoclustering": "labels of rows and columns, and nothing else",
    "NMF": "the smallest error with components that are mixtures, not rows",
    "LDA": "probabilities of topics, of new documents too",
    "tomotopy LDA": "the same by sampling, with many variants of topic models",
    "pysptools ATGP": "pure pixels of an image; the package is not maintained",
}
# Why a bar is missed: read where the page says that it is.
MISSED = {
    "representatives": "The default selects rows that explain the data together with columns and their crossing;"
    ' `SeparableNMF(k, axis="rows", method="faithful")` looks at the rows alone (see "rows only").',
    "panels": "The first panels differ by less than one panel does over the random splits (`spread` in the rows).",
    "coclusters": "The labels of `cosep` are those of the model that its representatives name, not labels alone.",
}
