"""Matrices of edges: those of lasting edges are kept while the edges live, those of others follow every change."""

import gc
import subprocess
import sys
import weakref

import pytest
import torch
from torch_geometric.utils import to_dense_adj

from wlhn.batching.matrices import gcn_matrix, lasting, mean_matrix, mean_matrix_with_loops, sum_matrix
from wlhn.ops.sums import product

EDGES = torch.tensor([[0, 1, 1, 2, 3, 3, 4, 0], [1, 2, 0, 3, 3, 0, 1, 4]])  # directed, with a loop
H = torch.randn(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))

A = to_dense_adj(EDGES, max_num_nodes=5)[0].mT.double()
LOOPED = A + torch.diag(1 - A.diagonal())
DENSE = {
    sum_matrix: A,
    mean_matrix: A / A.sum(1, keepdim=True).clamp_min(1),
    mean_matrix_with_loops: LOOPED / LOOPED.sum(1, keepdim=True),
    gcn_matrix: LOOPED / (LOOPED.sum(1)[:, None] * LOOPED.sum(1)).sqrt(),
}


@pytest.mark.parametrize("matrix", DENSE)
def test_product_is_the_dense_one_whether_kept_or_not(matrix) -> None:
    edges = lasting(EDGES.clone())
    for _ in range(2):  # made, and kept
        torch.testing.assert_close(product(matrix(edges, H), H), DENSE[matrix] @ H)
    torch.testing.assert_close(product(matrix(EDGES, H), H), DENSE[matrix] @ H)
    assert matrix(edges, H) is matrix(edges, H)
    assert matrix(edges, H.float()).value.dtype == matrix(EDGES, H.float()).value.dtype


@pytest.mark.parametrize("matrix", DENSE)
def test_edges_that_may_change_are_read_every_time(matrix) -> None:
    edges = torch.zeros_like(EDGES)
    assert not torch.allclose(product(matrix(edges, H), H), DENSE[matrix] @ H)
    edges.numpy()[:] = EDGES.numpy()  # behind torch's back
    torch.testing.assert_close(product(matrix(edges, H), H), DENSE[matrix] @ H)


def test_feeding_models_takes_no_pyg() -> None:
    """WLHN does without it, and it takes seconds to import."""
    told = "import sys, wlhn.training.problem; sys.exit('torch_geometric' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", told], check=False).returncode == 0


def test_a_matrix_goes_with_its_edges() -> None:
    edges = lasting(EDGES.clone())
    kept = weakref.ref(sum_matrix(edges, H).value)
    assert kept() is not None
    del edges
    gc.collect()
    assert kept() is None
