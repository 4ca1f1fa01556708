"""Select five measurements of a tumour, then predict the other twenty-five for new patients."""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from cosep import CoSeparableNMF, Pool

patients = load_breast_cancer(as_frame=True).data
known, unseen = train_test_split(patients, random_state=0)

# Only the means may be selected, and the radius must be, because it is measured anyway. The columns have different
# units, so each is divided by its sum in the norm of the model.
means = [name for name in patients.columns if name.startswith("mean")]
pool = Pool(candidates=means, include=["mean radius"])
model = CoSeparableNMF(n_rows=5, n_cols=5, scaling="columns", col_pool=pool).fit(known)
panel = list(model.selected_features_)
print(f"Panel, selected on {len(known)} patients from {len(means)} candidates:")
print(f"  {', '.join(panel)}")

# Only the panel is measured on new patients; complete() returns all thirty columns.
predicted = model.complete(unseen[panel])
off = (abs(predicted - unseen) / unseen.median()).median().drop(panel)
baseline = (abs(known.median() - unseen) / unseen.median()).median().drop(panel)

print(f"\nMedian relative error in the other {len(off)} columns of {len(unseen)} new patients:")
print("                from the panel   from the median patient")
for kind in ("mean", "worst", "error"):
    names = [name for name in off.index if kind in name.split()]
    print(f"  {kind:5s} ({len(names):2d})    {off[names].median():14.0%}   {baseline[names].median():23.0%}")

best = off.sort_values().index[:3]
print(f"\nPredicted best: {', '.join(f'{name} ({off[name]:.1%})' for name in best)}.")
