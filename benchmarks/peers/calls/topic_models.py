"""tomotopy: latent Dirichlet allocation by Gibbs sampling."""

from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse


def tomotopy_lda(X: Any, k: int, seed: int, iterations: int = 100, **options: Any) -> dict[str, Any]:
    """Sample topics of counts, which are whole numbers."""
    counts = scipy.sparse.csr_matrix(X)
    model = import_module("tomotopy").LDAModel(k=k, seed=seed, **options)
    documents = [
        [str(word) for word in np.repeat(row.indices, row.data.astype(int))]
        for row in (counts[i] for i in range(counts.shape[0]))
    ]
    known = [i for i, words in enumerate(documents) if words]
    for i in known:
        model.add_doc(documents[i])
    model.train(iterations, workers=1)
    topics, row_labels = np.zeros((k, counts.shape[1])), np.full(counts.shape[0], -1)
    words = np.array([int(word) for word in model.used_vocabs])
    for topic in range(k):
        topics[topic, words] = model.get_topic_word_dist(topic)
    row_labels[known] = [int(np.argmax(document.get_topic_dist())) for document in model.docs]
    frequency = np.bincount(row_labels[known], minlength=k)
    return {"topics": topics, "row_labels": row_labels, "col_labels": (topics * frequency[:, None]).argmax(axis=0)}
