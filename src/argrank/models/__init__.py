"""What is learned and served: models turn features into scores with NumPy alone, and live in safe files."""

from __future__ import annotations

#: Kinds of model, as model files name them: kind -> module and class.
KINDS = {
    "factors": ("argrank.models.factors", "FactorModel"),
    "kernel": ("argrank.models.kernel", "KernelModel"),
    "linear": ("argrank.models.linear", "LinearModel"),
    "slots": ("argrank.models.slots", "SlotModel"),
    "stumps": ("argrank.models.stumps", "StumpsModel"),
    "sum": ("argrank.models.sum", "SumModel"),
    "tree-classes": ("argrank.models.tree_classes", "TreeClassesModel"),
    "trees": ("argrank.models.trees", "TreesModel"),
}
