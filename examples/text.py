"""Select representative functions of SciPy and scikit-learn from their docstrings, and find the topic of new texts."""

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from cosep import CoSeparableNMF
from cosep.datasets import load_docstrings

corpus = load_docstrings()
model = CoSeparableNMF(n_rows=12, n_cols=12).fit(corpus.counts)
print(f"{corpus.counts.shape[0]} functions, {corpus.counts.shape[1]} words.")
print(f"Twelve functions explain {model.row_fidelity_:.0%} of the counts, twelve words {model.col_fidelity_:.0%},")
print(f"refitted components {model.score(corpus.counts):.0%}.")
print("Anchor words:", *corpus.words[model.col_indices_])

# Every function is a mixture of the twelve selected ones; a share is what one of these explains of it.
norms = np.linalg.norm(corpus.counts.toarray(), axis=1)
shares = model.row_weights_ * norms[model.row_indices_] / norms[:, None]
print("\nRepresentative functions, and the functions they represent best:")
for k, row in enumerate(model.row_indices_):
    closest = np.argsort(-shares[:, k], kind="stable")[1:4]
    print(f"  {corpus.documents[row]:38s} {', '.join(name.split('.')[-1] for name in corpus.documents[closest])}")

# A new text is a mixture of the fitted components; the one with the largest share is its topic.
texts = [
    "Remove the high frequency noise from a signal with a digital filter",
    "Does the mean of one sample differ from that of another, or is it chance?",
    "Find the smallest value of a smooth function subject to bounds",
    "Compute a few eigenvalues of a large sparse symmetric matrix",
]
counts = CountVectorizer(vocabulary=corpus.words).fit_transform(texts)
mixtures = model.transform(counts) * np.linalg.norm(model.components_, axis=1)
print("\nNew texts, and the words of their topics:")
for text, topic in zip(texts, mixtures.argmax(axis=1), strict=True):
    words = corpus.words[np.argsort(-model.components_[topic], kind="stable")[:6]]
    print(f"  {text}\n    -> {', '.join(words)}")
