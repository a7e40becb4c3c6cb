"""Models: turn features into scores with NumPy alone, and are stored in files that cannot run code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from argrank._registry import Registry, imported

if TYPE_CHECKING:
    from argrank.models.model import Model

#: Kinds of model, as model files name them: kind -> module and class. Other packages cannot add kinds, because a file
#: names its class.
KINDS = Registry(
    "kind of model",
    {
        "factors": ".factors:FactorModel",
        "kernel": ".kernel:KernelModel",
        "linear": ".linear:LinearModel",
        "slots": ".slots:SlotModel",
        "stumps": ".stumps:StumpsModel",
        "sum": ".sum:SumModel",
        "symmetric-trees": ".symmetric:SymmetricTrees",
        "tree-classes": ".tree_classes:TreeClassesModel",
        "trees": ".trees:TreesModel",
    },
)


def model_from(kind: str, fields: Mapping[str, Any]) -> Model:
    """Return the model of a kind from the plain data of a file."""
    model: Model = imported(KINDS[kind], "argrank.models").from_dict(fields)
    return model
