"""How much memory a fit takes beside its data, estimated before the work begins: a refusal instead of a crash."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from argrank._memory import check_memory
from argrank.data.mapped import is_mapped
from argrank.engines import Data, DistributedDataset

if TYPE_CHECKING:
    from argrank.rankers.base_ranker import BaseRanker

VECTORS = 10  # of weights that a fit holds at least: the last ones, gradients, planes


class Work(NamedTuple):
    """Bytes that a fit takes beside its data, as measured (see the page on reliability): upper ends, not means."""

    per_value: float  # of X: copies, bins
    per_row: float  # scores, gradients, orders
    copies: bool = False  # also features that lie on a disk, as folds


LINEAR = Work(0.0, 300.0)
LEAST_SQUARES = Work(17.0, 100.0)
TREES = Work(26.0, 600.0)
FORESTS = Work(40.0, 3000.0)  # trees for every label, or grown by steps of their own
BLEND = Work(50.0, 1000.0, copies=True)


def working_memory(ranker: BaseRanker, data: Data) -> float:
    """Return about how many bytes a fit will take beside its data; features on a cluster stay there.

    Those on a disk stay there, too, unless the ranker copies them.
    """
    if isinstance(data, DistributedDataset) or (is_mapped(data.X) and not ranker.work.copies):
        return 0.0
    n_values = float(data.X.nnz) if data.is_sparse else float(data.n_documents) * data.n_features
    scaled = 0.0 if ranker.normalise is None else data.X.dtype.itemsize
    return n_values * (ranker.work.per_value + scaled) + data.n_documents * ranker.work.per_row


def check_working_memory(ranker: BaseRanker, data: Data) -> None:
    """Raise where the weights, or the work of a fit, would take more memory than is allowed."""
    check_memory("X", VECTORS * 8.0 * data.n_features, "number the features from 1 up without gaps")
    needed = working_memory(ranker, data)
    check_memory(f"{type(ranker).__name__}: a fit", needed, _advice(ranker))


def _advice(ranker: BaseRanker) -> str:
    some = "take a part of the queries"
    if ranker.work.copies:
        return f"{some}, or one ranker alone that trains from a pack, such as listnet or lambda-mart"
    return f"{some}, or pack the data (ar.pack)"
