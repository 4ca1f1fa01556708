"""Select representative images of handwritten digits, and pixels that predict the other pixels."""

from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from cosep import CoSeparableNMF

SHADES = np.array(list(" .:*#"))

images, digits = load_digits(return_X_y=True)
known, unseen = images[:1500], images[1500:]
model = CoSeparableNMF(n_rows=10, n_cols=20).fit(known)


def show(titles: list[str], pictures: Any) -> None:
    """Print pictures of 8 x 8 pixels between 0 and 16 side by side."""
    print("\n  " + "   ".join(title.ljust(16) for title in titles))
    shades = SHADES[(np.clip(pictures, 0, 16) / 3.3).astype(int)].reshape(-1, 8, 8)
    for lines in shades.transpose(1, 0, 2):
        print("  " + "   ".join("".join(2 * shade for shade in line) for line in lines))


print(f"Ten of {len(known)} images represent the others:")
for five in model.row_indices_.reshape(2, 5):
    show([f"a {digits[i]}" for i in five], known[five])

print("\nTwenty of the 64 pixels are selected. From these, all pixels of unseen images are predicted.")
predicted = model.complete(unseen[:, model.col_indices_])
selected = np.zeros(64)
selected[model.col_indices_] = 16
for i in (0, 150):
    show(["the pixels", f"a {digits[1500 + i]}", "predicted"], [selected, unseen[i], predicted[i]])

error = np.linalg.norm(unseen - predicted) / np.linalg.norm(unseen)
print(f"\nThe relative error over all {len(unseen)} unseen images is {error:.0%}.")
