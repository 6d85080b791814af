"""Learning the WL distance itself: python docs/learned_distances.py

Where the tree is the target, does a network do better that is built on it?

Two colours of depth T that part at depth t are 2 (T + 1 − t) apart. A network shall give distances that are a multiple
of this, and is trained to on pairs of colours of some graphs; then it is asked about colours of other graphs that it
has never seen. The network is the same for all, WLHN's GIN layers in one width; only what is taken for a distance
differs: that of WLHN's points, or the Euclidean one of GIN features, of the last depth or of all depths side by side.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Literal, get_args

import numpy as np
import torch
from scipy.stats import spearmanr
from torch import Tensor

from wlhn.batching.colour_batch import ColourBatch
from wlhn.batching.refined import make_quotient
from wlhn.data.dataset import Dataset
from wlhn.data.features import features
from wlhn.data.load import load
from wlhn.hyperbolic.polar import polar_distance
from wlhn.models.wlhn import WLHN

Space = Literal["WLHN", "GIN", "GIN, all depths"]
SPACES: tuple[Space, ...] = get_args(Space)
PAIRS = 4096  # in a step of training
ASKED = 500  # unseen colours at most, all pairs of which are asked for
NEAREST = 5  # how many are to be retrieved


@dataclass(frozen=True)
class Learned:
    """How well distances of unseen colours are those of the tree."""

    error: float  # mean |a · distance − WL distance|, with the multiple a that was learned
    correlation: float  # Spearman's, over all pairs
    retrieved: float  # share of the nearest five that are as near in the tree as five can be


def learn_distances(
    dataset: Dataset, space: Space, *, dimension: int = 16, depth: int = 3, steps: int = 300, seed: int = 0
) -> Learned:
    """Train on the colours of half of the graphs, then ask about those that only the other half has."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    to_train = np.sort(random.permutation(len(dataset.graphs))[: len(dataset.graphs) // 2])
    x = features(dataset, degree="log")
    quotient = make_quotient(dataset.graphs, x, depth)
    ptr, colour, _ = quotient.graph_colours[-1]
    seen = np.concatenate([colour[ptr[graph] : ptr[graph + 1]] for graph in to_train])
    others = np.setdiff1d(np.arange(quotient.hierarchy.num_colours[-1]), seen)
    unseen = torch.from_numpy(random.permutation(others)[:ASKED])
    model = WLHN(x.shape[1], 1, hidden_channels=dimension, num_layers=depth)
    scale = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.Adam([*model.parameters(), scale], lr=0.01)
    train = quotient.batch(to_train)
    path = ancestors(train)
    for _ in range(steps):
        a, b = _pairs(path, random)
        found = scale.exp() * _apart(model, train, space, a, b)
        loss = (found - _tree_distance(path[a], path[b])).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    everyone = quotient.batch(np.arange(len(dataset.graphs)))  # row k is colour k
    a, b = torch.triu_indices(len(unseen), len(unseen), 1)
    with torch.no_grad():
        ours = scale.exp() * _apart(model.eval(), everyone, space, unseen[a], unseen[b])
    path = ancestors(everyone)[unseen]
    theirs = _tree_distance(path[a], path[b])
    error, correlation = (ours - theirs).abs().mean(), spearmanr(ours.numpy(), theirs.numpy()).statistic
    return Learned(float(error), float(correlation), _retrieved(_square(ours, a, b), _square(theirs, a, b)))


def ancestors(batch: ColourBatch) -> Tensor:
    """The path to each colour of the last depth, (rows, depths)."""
    path = [torch.arange(batch.num_rows[-1])]
    for level in reversed(batch.levels):
        path.insert(0, level.parent.long()[path[0]])
    return torch.stack(path, dim=1)


def _tree_distance(a: Tensor, b: Tensor) -> Tensor:
    """Twice the number of depths at which two paths differ."""
    return 2.0 * (a != b).sum(1)


def _pairs(path: Tensor, random: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Pairs of different colours, as many that part at each depth as there can be: most of all pairs part at once."""
    n, depths = path.shape
    a = torch.from_numpy(random.integers(0, n, PAIRS))
    b = torch.from_numpy(random.integers(0, n, PAIRS))
    for t in range(depths - 1):  # colours are sorted by their ancestors, so relatives are rows side by side
        some = slice(t * PAIRS // depths, (t + 1) * PAIRS // depths)
        first = torch.searchsorted(path[:, t].contiguous(), path[a[some], t])
        last = torch.searchsorted(path[:, t].contiguous(), path[a[some], t], right=True)
        b[some] = first + (torch.from_numpy(random.random(len(first))) * (last - first)).long()
    different = a != b
    return a[different], b[different]


def _apart(model: WLHN, batch: ColourBatch, space: Space, a: Tensor, b: Tensor) -> Tensor:
    """Distances of rows a and b, pair by pair."""
    levels = list(model.levels(batch))
    if space == "WLHN":
        z, _ = levels[-1]
        return polar_distance(z.r[a], z.e[a], z.r[b], z.e[b])
    h = levels[-1][1]
    if space == "GIN, all depths":
        path = ancestors(batch)
        h = torch.cat([each[path[:, t]] for t, (_, each) in enumerate(levels)], dim=1)
    return (h[a] - h[b]).norm(dim=1)


def _square(values: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """A symmetric matrix from its upper half, infinite on its diagonal."""
    n = int(b.max()) + 1
    out = torch.full((n, n), torch.inf)
    out[a, b] = out[b, a] = values
    return out


def _retrieved(ours: Tensor, theirs: Tensor) -> float:
    """The share of everyone's nearest few that are no further in the tree than its own nearest few."""
    bound = theirs.topk(NEAREST, largest=False).values[:, -1:]
    return float((theirs.gather(1, ours.topk(NEAREST, largest=False).indices) <= bound).float().mean())


if __name__ == "__main__":
    for space in SPACES:
        seeds = [learn_distances(load("MUTAG"), space, seed=seed) for seed in range(2)]
        print(space, *(f"{sum(each) / len(each):.3f}" for each in zip(*map(astuple, seeds), strict=True)))
