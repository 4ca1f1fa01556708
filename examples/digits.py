"""
Typical images and informative pixels
=====================================

Ten images of handwritten digits stand for 1500 others, and twenty of the 64 pixels suffice to predict whole images that
the model has never seen.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from cosep import CoSeparableNMF

images, digits = load_digits(return_X_y=True)
known, unseen = images[:1500], images[1500:]
model = CoSeparableNMF(n_rows=10, n_cols=20).fit(known)
names = [str(digits[i]) for i in model.row_indices_]
print(f"Ten of {len(known)} images represent the others: {' '.join(names)}.")


def show(axes, pictures, titles, color=None):
    """Draw pictures of 8 x 8 pixels side by side, with the selected pixels as dots of a color."""
    for ax, picture, title in zip(axes, pictures, titles, strict=True):
        ax.imshow(picture.reshape(8, 8), cmap="gray", vmin=0, vmax=16)
        if color:
            ax.plot(model.col_indices_ % 8, model.col_indices_ // 8, ".", color=color, ms=5)
        ax.set_title(title, fontsize=9)
        ax.set_axis_off()


fig, axes = plt.subplots(1, 10, figsize=(10, 1.4), layout="constrained")
show(axes, known[model.row_indices_], names)
plt.show()

# %%
# Twenty pixels, drawn as dots, are selected. From these, all pixels of unseen images are predicted.
predicted = model.complete(unseen[:, model.col_indices_])
error = np.linalg.norm(unseen - predicted) / np.linalg.norm(unseen)
print(f"The relative error over all {len(unseen)} unseen images is {error:.0%}.")
fig, axes = plt.subplots(2, 10, figsize=(10, 2.4), layout="constrained")
show(axes[0], unseen[:10], [f"a {digit}" for digit in digits[1500:1510]], color="red")
show(axes[1], predicted[:10], ["predicted"] * 10)
plt.show()
