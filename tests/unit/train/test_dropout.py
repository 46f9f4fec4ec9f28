"""Quick dropout: the chances, the mean and the gradient of the plain one."""

import pytest
import torch
import torch.nn.functional as F

from anyformer.train.dropout import QuickDropout, dropout


@pytest.mark.parametrize("p", [0.1, 0.25, 0.5])
def test_about_as_many_are_dropped_as_asked_for_and_the_mean_stays(p):
    torch.manual_seed(0)
    x = torch.ones(400_003)
    found = dropout(x, p)
    assert (found == 0).float().mean() == pytest.approx(p, abs=0.005)
    assert found.mean() == pytest.approx(1, abs=0.005)
    assert len(found.unique()) == 2


def test_neighbours_are_dropped_independently():
    torch.manual_seed(0)
    gone = (dropout(torch.ones(200_000, 8), 0.5) == 0).float()
    apart = torch.corrcoef(gone.T) - torch.eye(8)
    assert apart.abs().max() < 0.02


def test_in_its_scope_modules_drop_quickly_and_learn_through_what_stays():
    module, x = torch.nn.Dropout(0.5).train(), torch.ones(1000, requires_grad=True)
    with QuickDropout():
        torch.manual_seed(3)
        found = module(x)
    torch.manual_seed(3)
    torch.testing.assert_close(found, dropout(x, 0.5))
    found.sum().backward()
    torch.testing.assert_close(x.grad, found.detach())


@pytest.mark.parametrize(("p", "training"), [(0.0, True), (0.3, False), (1.0, True)])
def test_where_nothing_is_drawn_it_is_the_plain_one(p, training):
    x = torch.randn(100)
    torch.testing.assert_close(dropout(x, p, training), F.dropout(x, p, training))
