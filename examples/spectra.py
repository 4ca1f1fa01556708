"""
Pure pixels of an image with many bands
=======================================

A camera with 60 bands sees a field of 40 x 40 pixels. Most pixels are mixtures of four materials, and a few hold one
material alone. The selected rows are pixels, the selected columns are bands: the weights of the pixels are maps of the
materials, and four bands suffice to draw them.
"""

import matplotlib.pyplot as plt
import numpy as np

from cosep import CoSeparableNMF

# %%
# Four smooth spectra, and shares of the materials that change slowly over the field.
rng = np.random.default_rng(0)
side, bands = 40, np.linspace(0, 1, 60)
centers, widths = np.array([0.15, 0.4, 0.6, 0.85]), np.array([0.08, 0.1, 0.06, 0.1])
spectra = 0.05 + np.exp(-(((bands - centers[:, None]) / widths[:, None]) ** 2)) + 0.2 * rng.random((4, 1)) * bands
y, x = np.mgrid[0:side, 0:side] / side
spots = np.array([[0.2, 0.2], [0.8, 0.25], [0.3, 0.8], [0.75, 0.75]])
nearness = np.exp(-25 * ((y.ravel()[:, None] - spots[:, 0]) ** 2 + (x.ravel()[:, None] - spots[:, 1]) ** 2))
shares = nearness / nearness.sum(axis=1, keepdims=True)
image = shares @ spectra * (1 + 0.01 * rng.standard_normal((side**2, len(bands))))

# %%
# No material is known to the model. ``row_weights_`` says how much of each selected pixel every pixel holds.
model = CoSeparableNMF(n_rows=4, n_cols=4, method="cosfgm").fit(image)
print(f"Four of {side**2} pixels explain {model.row_fidelity_:.2%} of the image, four of 60 bands")
print(f"{model.col_fidelity_:.2%}, and the 4 x 4 entries where they cross {model.core_fidelity_:.2%}.")
order = np.argsort(model.row_indices_ // side * side + model.row_indices_ % side)
maps = model.row_weights_.T.reshape(4, side, side)[order]

fig, axes = plt.subplots(1, 5, figsize=(11, 2.4), width_ratios=[1, 1, 1, 1, 1.6], layout="constrained")
for k, (ax, one, pixel) in enumerate(zip(axes, maps, model.row_indices_[order], strict=False)):
    ax.imshow(one, cmap="viridis", vmin=0, vmax=1)
    ax.plot(pixel % side, pixel // side, "o", mfc="none", mec="red", ms=10, mew=2)
    ax.set(xticks=[], yticks=[], title=f"pixel {pixel}")
    axes[-1].plot(60 * bands, image[pixel], color=f"C{k}")
for band in model.col_indices_:
    axes[-1].axvline(band, color="grey", ls=":", lw=1)
axes[-1].set(title="their spectra; dotted: the bands", xlabel="band", yticks=[])
plt.show()
