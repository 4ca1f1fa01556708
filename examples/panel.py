"""
A panel of measurements that predicts the others
================================================

Thirty measurements describe a tumour. Five are selected; the other twenty-five of new patients are predicted from them,
with the error to expect of each.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from cosep import CoSeparableNMF, Pool

patients = load_breast_cancer(as_frame=True).data
known, unseen = train_test_split(patients, random_state=0)

# %%
# Only the means may be selected, and the radius must be, because it is measured anyway. "predictive" looks at what is
# left of the columns without their means, each in units of its spread: columns that are large together are told once.
means = [name for name in patients.columns if name.startswith("mean")]
pool = Pool(candidates=means, include=["mean radius"])
model = CoSeparableNMF(n_rows=5, n_cols=5, method="predictive", col_pool=pool).fit(known)
panel = list(model.selected_features_)
print(f"Panel, selected on {len(known)} patients from {len(means)} candidates:")
print(f"  {', '.join(panel)}")

# %%
# Only the panel is measured on new patients; complete() returns all thirty columns, and decoder() the error to expect
# of each, from the known patients alone.
predicted = model.complete(unseen[panel])
decoder = model.decoder()
scores = model.column_scores(unseen)
others = [patients.columns[j] for j in decoder.predicted]
print(f"\nThe first new patient, {len(others)} columns predicted from {len(panel)}:")
for name in others[:4]:
    j = patients.columns.get_loc(name)
    value, error = predicted[0, j], decoder.error[j]
    print(f"  {name:16s} {value:8.3g} +- {error:.2g}, measured {unseen[name].iloc[0]:.3g}")

# %%
# How good are the predictions?
print(
    f"\nR^2 on {len(unseen)} new patients (1 is exact, 0 the mean): mean {scores.mean:.2f}, median {scores.median:.2f};"
)
print(f"expected from the known patients: mean {decoder.r2[decoder.predicted].mean():.2f}.")
ranked = sorted(others, key=lambda name: -scores.r2[patients.columns.get_loc(name)])
for title, names in (("Predicted best", ranked[:3]), ("Predicted worst", ranked[-3:])):
    figures = (f"{name} ({scores.r2[patients.columns.get_loc(name)]:.2f})" for name in names)
    print(f"{title}: {', '.join(figures)}.")
print(f"No better than their means: {', '.join(scores.unpredictable) or 'none'}.")

fig, axes = plt.subplots(1, 4, figsize=(11, 2.9), layout="constrained")
for ax, name in zip(axes, (*ranked[:2], *ranked[-2:]), strict=True):
    j = patients.columns.get_loc(name)
    ax.errorbar(unseen[name], predicted[:, j], decoder.error[j], fmt=".", ms=4, elinewidth=0.4)
    ax.axline((unseen[name].mean(), unseen[name].mean()), slope=1, color="grey", lw=1)
    ax.set(title=f"{name}: {scores.r2[j]:.2f}", xlabel="measured")
axes[0].set_ylabel("predicted")
plt.show()
