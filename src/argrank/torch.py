"""argrank's objectives as PyTorch losses: ``from argrank.torch import RankingLoss``; needs PyTorch.

This is the only module that imports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from argrank._types import Floats
from argrank.data.dataset import Dataset
from argrank.errors import InputError, MissingExtraError, shown
from argrank.objectives.objective import Objective
from argrank.rankers import objective

try:
    import torch
    from torch.autograd.function import once_differentiable
except ImportError as error:
    raise MissingExtraError("torch", "torch", "losses of PyTorch") from error

__all__ = ["RankingLoss"]


class RankingLoss(torch.nn.Module):
    """The objective of a named ranker as a loss for any network: the mean over the queries of a batch.

    Forward and backward call ``ar.objective(name, **parameters)`` on the CPU, in float64; the gradient with respect to
    the scores is exact (a subgradient at the kinks of a hinge), and PyTorch backpropagates it. A loss that weights all
    pairs equally (``rank-svm``, ``log-mle``, …) is a mean over the pairs of the batch.

    Parameters
    ----------
    name : str
        A ranker with an objective, such as "listnet", "svm-ndcg", "orm", "smooth-grad", "lambdarank"; or "custom".
    **parameters
        The ranker's parameters on which its objective depends: ``measure``, ``k``, ``gain``, ``bound``, ….

    Examples
    --------
    ``RankingLoss("orm", measure="ndcg@10", bound="tight")(scores, labels, queries).backward()``
    """

    def __init__(self, name: str, **parameters: Any) -> None:
        super().__init__()
        self.name, self.parameters_given, self.objective = name, parameters, objective(name, **parameters)

    def forward(self, scores: Any, labels: Any, queries: Any = None, *, mask: Any = None) -> Any:
        """Return the loss of a batch.

        Parameters
        ----------
        scores : tensor
            One score for each document: of shape (n,) or (n, 1), or (queries, documents), one query per row.
        labels : tensor of as many labels, or list of tensors
            A list holds the labels of one query after the other, as losses of sentence-transformers' CrossEncoder get
            them; the scores are then those of all its documents in this order.
        queries : tensor or array of shape (n,), optional
            The query of each document, in any order; without it, scores of shape (n,) are those of one query.
        mask : tensor of shape (queries, documents), optional
            True for documents, False for padding.
        """
        flat, known, data = _batch(scores, labels, queries, mask)
        return _Loss.apply(flat if known is None else flat[known], self.objective, data)

    def extra_repr(self) -> str:
        """Return the name and the parameters, for the text of a network."""
        return ", ".join([repr(self.name), *(f"{key}={value!r}" for key, value in self.parameters_given.items())])


class _Loss(torch.autograd.Function):
    """An objective as a node of PyTorch's graph."""

    @staticmethod
    def forward(ctx: Any, scores: Any, asked: Objective, data: Dataset) -> Any:
        """Evaluate the objective and keep its gradient."""
        value, gradient = asked(_array(scores), data)
        ctx.save_for_backward(torch.as_tensor(gradient, dtype=scores.dtype, device=scores.device))
        return scores.new_tensor(value)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, above: Any) -> Any:
        """Scale the kept gradient."""
        (gradient,) = ctx.saved_tensors
        return above * gradient, None, None


def _batch(scores: Any, labels: Any, queries: Any, mask: Any) -> tuple[Any, Any, Dataset]:
    """Return the scores as a vector, a mask of those that belong to documents (None for all), and their labels."""
    if not isinstance(scores, torch.Tensor) or not scores.is_floating_point() or scores.ndim not in (1, 2):
        raise InputError(f"scores: expected a tensor of floats of one or two dimensions, got {shown(scores)}")
    flat = scores.reshape(-1)
    if isinstance(labels, Sequence):
        parts = [_array(part).reshape(-1) for part in labels]
        y, qid = np.concatenate([*parts, np.empty(0)]), np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        if queries is not None or mask is not None:
            raise InputError("queries, mask: expected None if labels are a list, which has one entry per query")
    else:
        y = _array(labels).reshape(-1)
        wide = scores.ndim == 2 and scores.shape[1] > 1
        qid = np.repeat(np.arange(scores.shape[0]), scores.shape[1]) if wide else np.zeros(len(flat), np.int64)
        if queries is not None:
            if wide:
                raise InputError("queries: expected None for scores of shape (queries, documents), one query a row")
            qid = np.asarray(queries.detach().cpu() if isinstance(queries, torch.Tensor) else queries).reshape(-1)
    if len(y) != len(flat) or len(qid) != len(flat):
        raise InputError(
            f"labels: expected one for each of {len(flat)} scores, got {len(y)} labels, {len(qid)} queries"
        )
    if mask is None:
        return flat, None, _data(y, qid)
    known = torch.as_tensor(mask, dtype=torch.bool, device=scores.device).reshape(-1)
    if len(known) != len(flat):
        raise InputError(f"mask: expected one for each of {len(flat)} scores, got {len(known)}")
    there = known.cpu().numpy()
    return flat, known, _data(y[there], qid[there])


def _data(labels: Floats, qid: Any) -> Dataset:
    if len(labels) == 0:
        raise InputError("scores: expected at least one document, got none")
    return Dataset(np.zeros((len(labels), 1)), labels, qid)


def _array(tensor: Any) -> Floats:
    found = tensor.detach().cpu().numpy() if isinstance(tensor, torch.Tensor) else tensor
    return np.asarray(found, np.float64)
