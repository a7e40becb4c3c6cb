"""argrank.torch: the losses of PyTorch are argrank's objectives, and so are their gradients."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import warnings

import numpy as np
import pytest

import argrank as ar
from argrank.errors import InputError, MissingExtraError, OptionError

HERE = importlib.util.find_spec("torch") is not None
if not HERE:
    warnings.warn("torch is not installed: argrank.torch was not tested", UserWarning, stacklevel=1)
needs_torch = pytest.mark.skipif(not HERE, reason="torch is not installed, which argrank.torch needs")


@pytest.mark.skipif(HERE, reason="torch is installed")
def test_without_pytorch_the_extra_is_named():
    with pytest.raises(MissingExtraError, match=r"argrank\[torch\]"):
        import argrank.torch  # noqa: F401


def test_argrank_itself_does_not_import_pytorch():
    code = "import argrank as ar, sys; ar.objective('listnet'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture(scope="module")
def batch():
    return ar.make_ranking(6, (2, 9), 2, random_state=3)


@needs_torch
@pytest.mark.parametrize(("name", "parameters"), [("listnet", {}), ("orm", {"bound": "tight"}), ("rank-svm", {})])
def test_value_and_gradient_are_those_of_the_objective(batch, name, parameters):
    import torch

    from argrank.torch import RankingLoss

    scores = np.random.default_rng(0).standard_normal(batch.n_documents)
    value, gradient = ar.objective(name, **parameters)(scores, batch)
    leaf = torch.tensor(scores, requires_grad=True)
    mixed = torch.randperm(len(scores), generator=torch.Generator().manual_seed(0))
    loss = RankingLoss(name, **parameters)(leaf[mixed], torch.tensor(batch.y)[mixed], batch.query_of_row[mixed])
    (2 * loss).backward()
    assert loss.item() == pytest.approx(value, abs=1e-12)
    np.testing.assert_allclose(leaf.grad.numpy(), 2 * gradient, atol=1e-12)


@needs_torch
def test_lists_rows_and_masks_say_the_same_batch(batch):
    import torch

    from argrank.torch import RankingLoss

    loss, scores = RankingLoss("listnet"), torch.linspace(-1, 1, batch.n_documents, dtype=torch.float64)
    sizes, labels = batch.sizes.tolist(), torch.tensor(batch.y)
    expected = loss(scores, labels, torch.tensor(batch.query_of_row))
    assert loss(scores[:, None], list(labels.split(sizes))) == expected
    wide, wanted = (
        torch.nn.utils.rnn.pad_sequence(list(one.split(sizes)), batch_first=True) for one in (scores, labels)
    )
    mask = torch.arange(wide.shape[1]) < torch.tensor(sizes)[:, None]
    padded = wide.clone().requires_grad_()
    found = loss(padded, wanted, mask=mask)
    found.backward()
    assert found.item() == pytest.approx(expected.item(), abs=1e-12)
    assert (padded.grad[~mask] == 0).all()
    assert (padded.grad[mask] != 0).any()
    assert loss(wide.float(), wanted, mask=mask).dtype == torch.float32


@needs_torch
def test_gradients_pass_pytorchs_own_check(batch):
    import torch

    from argrank.torch import RankingLoss

    scores = torch.randn(batch.n_documents, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    loss = RankingLoss("custom", objective=lambda s, y: (float(((s - y) ** 2).sum()), 2 * (s - y)))
    args = (torch.tensor(batch.y), batch.query_of_row)
    assert torch.autograd.gradcheck(lambda one: loss(one, *args), scores.requires_grad_())


@needs_torch
def test_mistakes_are_told():
    import torch

    from argrank.torch import RankingLoss

    loss, scores = RankingLoss("listnet"), torch.zeros(4)
    with pytest.raises(InputError, match="expected one for each of 4 scores, got 3"):
        loss(scores, torch.zeros(3))
    with pytest.raises(InputError, match="tensor of floats"):
        loss([0.0, 1.0], torch.zeros(2))
    with pytest.raises(InputError, match="one query a row"):
        loss(torch.zeros(2, 2), torch.zeros(2, 2), [0, 0, 1, 1])
    with pytest.raises(InputError, match="which has one entry per query"):
        loss(scores, [torch.zeros(4)], [0, 0, 0, 0])
    with pytest.raises(InputError, match="at least one document"):
        loss(torch.zeros(0), [])
    with pytest.raises(OptionError, match="no objective"):
        RankingLoss("direct-rank")
    assert repr(RankingLoss("orm", k=5)) == "RankingLoss('orm', k=5)"
