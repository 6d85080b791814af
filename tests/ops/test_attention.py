"""Attention over sparse entries: against a dense softmax, plain torch, finite differences and PyG's GATConv."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch_geometric.nn import GATConv

from wlhn.batching.colour_batch import Counts
from wlhn.batching.matrices import Entries, entries_with_loops, lasting
from wlhn.errors import InputError
from wlhn.loops import parallel
from wlhn.nn.sparse_layers import SparseGATConv
from wlhn.ops.attention import attend, attend_reference

EDGES = torch.tensor([[0, 1, 1, 2, 3, 3, 4, 0, 0], [1, 2, 0, 3, 3, 0, 1, 4, 4]])  # directed, a loop, one edge twice
NODES, HEADS, CHANNELS = 6, 2, 3  # the last node has no neighbour


def inputs(scale: float = 1.0) -> tuple[Tensor, Tensor]:
    random = torch.Generator().manual_seed(0)
    x = torch.randn(NODES, HEADS, CHANNELS, dtype=torch.float64, generator=random)
    entries = entries_with_loops(EDGES, x)
    scores = scale * torch.randn(len(entries.row), HEADS, dtype=torch.float64, generator=random)
    return scores.requires_grad_(), x.requires_grad_()


def dense(scores: Tensor, x: Tensor) -> Tensor:
    """Entry by entry, from the definition."""
    entries = entries_with_loops(EDGES, x)
    out = torch.zeros(NODES, HEADS, CHANNELS, dtype=x.dtype)
    for i in range(NODES):
        mine = (entries.row == i).nonzero()[:, 0]
        for h in range(HEADS):
            out[i, h] = torch.softmax(scores[mine, h], 0) @ x[entries.column[mine].long(), h]
    return out


@pytest.mark.parametrize("form", [attend, attend_reference])
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_values_and_gradients_are_those_of_the_definition(form, scale: float) -> None:
    scores, x = inputs(scale)
    grad = torch.randn(NODES, HEADS, CHANNELS, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    found, expected = form(entries_with_loops(EDGES, x), scores, x), dense(scores, x)
    torch.testing.assert_close(found, expected)
    for ours, theirs in zip(
        torch.autograd.grad(found, (scores, x), grad), torch.autograd.grad(expected, (scores, x), grad), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


def test_gradients_by_finite_differences() -> None:
    scores, x = inputs()
    assert torch.autograd.gradcheck(lambda s, x: attend(entries_with_loops(EDGES, x), s, x), (scores, x))


def test_second_derivatives_by_finite_differences() -> None:
    scores, x = inputs()
    assert torch.autograd.gradgradcheck(lambda s, x: attend(entries_with_loops(EDGES, x), s, x), (scores, x))
    assert torch.autograd.gradgradcheck(lambda s: attend(entries_with_loops(EDGES, x), s, x.detach()), scores)


@pytest.mark.parametrize("form", [attend, attend_reference])
def test_a_row_without_entries_is_zero(form) -> None:
    entry = np.arange(2)
    pattern = Counts.from_rows(np.array([0, 1, 1, 2]), np.array([1, 0], np.int32), entry, 2)
    x = torch.arange(1.0, 13).view(2, 2, 3)
    said = form(Entries(pattern, torch.tensor([0, 2])), torch.zeros(2, 2), x)
    assert torch.equal(said, torch.stack([x[1], torch.zeros(2, 3), x[0]]))


def test_other_shapes_are_refused() -> None:
    scores, x = inputs()
    entries = entries_with_loops(EDGES, x)
    for wrong in ((scores[:-1], x), (scores[:, :1], x), (scores, x[:-1]), (scores, x[:, 0])):
        with pytest.raises(InputError, match=r"attend: expected scores \(14, heads\) and x \(6, heads, channels\)"):
            attend(entries, *wrong)


def test_low_precision_is_left_to_torch() -> None:
    scores, x = (part.detach() for part in inputs())
    entries = entries_with_loops(EDGES, x)
    for kinds in ((torch.bfloat16, torch.bfloat16), (torch.float32, torch.bfloat16)):
        said = attend(entries, scores.to(kinds[0]), x.to(kinds[1]))
        assert said.dtype == torch.bfloat16
        torch.testing.assert_close(said.double(), dense(scores, x), rtol=0.1, atol=0.1)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_layer_and_its_gradients_are_those_of_pyg(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "SMALL", 1)
    torch.manual_seed(0)
    ours, theirs = SparseGATConv(5, 4, 3, bias=False).double(), GATConv(5, 4, 3, bias=False).double()
    theirs.load_state_dict(ours.state_dict())
    edges, h = torch.randint(0, 40, (2, 200)), torch.randn(40, 5, dtype=torch.float64)
    lasts = lasting(edges.clone())
    weight = torch.randn(40, 12, dtype=torch.float64)
    with parallel.torch_threads(threads):
        for _ in range(2):  # entries made, and kept
            ours.zero_grad()
            theirs.zero_grad()
            found, expected = ours(h, entries_with_loops(lasts, h)), theirs(h, edges)
            torch.testing.assert_close(found, expected)
            (found * weight).sum().backward()
            (expected * weight).sum().backward()
            for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
                torch.testing.assert_close(one.grad, other.grad)
