"""Find the handwritten digits that speak for the others, and the pixels from which the rest can be guessed."""

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


print(f"Ten of {len(known)} images were chosen to speak for the rest:")
for five in model.row_indices_.reshape(2, 5):
    show([f"a {digits[i]}" for i in five], known[five])

print("\nTwenty of the 64 pixels were chosen, and these alone are read from images that were not seen before.")
restored = model.complete(unseen[:, model.col_indices_])
chosen = np.zeros(64)
chosen[model.col_indices_] = 16
for i in (0, 150):
    show(["the pixels", f"a {digits[1500 + i]}", "restored"], [chosen, unseen[i], restored[i]])

error = np.linalg.norm(unseen - restored) / np.linalg.norm(unseen)
print(f"\nOver all {len(unseen)} unseen images the restored ones are off by {error:.0%}.")
