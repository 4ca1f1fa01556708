"""
Topics of texts
===============

Twelve functions of SciPy and scikit-learn stand for all others, by the words of their docstrings. Each is a topic with
an anchor word, and new texts are assigned to these topics.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

from cosep import CoSeparableNMF, describe
from cosep.datasets import load_docstrings
from cosep.io import TextOptions, vectorise

corpus = load_docstrings()
model = CoSeparableNMF(n_rows=12, n_cols=12).fit(corpus.counts)
print(f"{corpus.counts.shape[0]} functions, {corpus.counts.shape[1]} words.")
print(f"Twelve functions explain {model.row_fidelity_:.1%} of the counts, twelve words {model.col_fidelity_:.1%},")
print(f"refitted components {model.refitted_fidelity_:.1%}. No twelve components explain more than", end=" ")
print(f"{model.fidelity_bound_.refitted:.1%}.")
print("Anchor words:", *corpus.words[model.col_indices_])

# %%
# Each selected function is a topic, and every function belongs to the topic with the largest share in it.
named = replace(model.factorization_, row_names=corpus.documents, col_names=corpus.words)
topics = describe(corpus.counts, named).topics
print("\nRepresentative functions, how many functions belong to them, and the closest of these:")
for topic in topics:
    closest = ", ".join(entry.name.split(".")[-1] for entry in topic.closest[:3])
    print(f"  {topic.name:38s} {topic.size:4d}  {closest}")

fig, axes = plt.subplots(3, 4, figsize=(11, 6.5), layout="constrained")
for ax, topic in zip(axes.flat, topics, strict=True):
    ax.barh([entry.name for entry in topic.columns[:6]], [entry.value for entry in topic.columns[:6]])
    ax.invert_yaxis()
    ax.set_title(topic.name.split(".")[-1], fontsize=10)
    ax.set_xticks([])
plt.show()

# %%
# A new text is a mixture of the fitted components; that with the largest share, in the norm of the model, is its topic.
texts = [
    "Remove the high frequency noise from a signal with a digital filter",
    "Does the mean of one sample differ from that of another, or is it chance?",
    "Find the smallest value of a smooth function subject to bounds",
    "Compute a few eigenvalues of a large sparse symmetric matrix",
]
counts, _ = vectorise(texts, TextOptions(vocabulary=corpus.words))
shares = model.transform(counts) * np.linalg.norm(model.components_ * named.scaling.cols, axis=1)
print("\nNew texts, and the words of their topics:")
for text, k in zip(texts, shares.argmax(axis=1), strict=True):
    words = [entry.name for entry in topics[k].columns[:6]]
    print(f"  {text}\n    -> {', '.join(words)}")
