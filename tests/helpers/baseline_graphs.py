"""Small graphs without symmetries, and models by name to try on them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from wlhn import Graphs, refine
from wlhn.models.registry import MODELS, build_model, model_class
from wlhn.training.settings import Settings

FEATURES, EDGE_SIZES = 5, (3, 2)
NAMES = list(MODELS.places)  # all of ours
MACHINES = [name for name in NAMES if hasattr(model_class(name), "fit")]  # fitted in one go, without gradients
SEES_EDGES = [name for name in NAMES if model_class(name).sees_edges and name not in MACHINES]
BOTH = [(name, level) for name in NAMES for level in model_class(name).target_levels]
LEARNED = [(name, level) for name, level in BOTH if name not in MACHINES]


@dataclass
class Sample:
    """Graphs, and the same as a model's forward takes them."""

    graphs: Graphs

    def inputs(self, edges: bool = False) -> dict[str, Any]:
        attributes = torch.from_numpy(self.graphs.edge_attr) if edges else None
        return {
            "x": torch.from_numpy(self.graphs.x),
            "edge_index": torch.from_numpy(self.graphs.edge_index.astype(np.int64)),
            "batch": torch.from_numpy(self.graphs.graph_of_node),
            "edge_attr": attributes,
        }

    def targets(self, level: str) -> Tensor:
        count = len(self.graphs) if level == "graph" else self.graphs.num_nodes
        return torch.from_numpy(np.random.default_rng(1).permutation(np.arange(count) % 3))


def sample(count: int = 9, seed: int = 0, dtype: Any = np.float32) -> Sample:
    """Random connected graphs of 8 to 14 nodes, undirected, with random features of nodes and edges."""
    random = np.random.default_rng(seed)
    parts = [_without_symmetry(random) for _ in range(count)]
    ptr = np.concatenate([[0], np.cumsum([1 + pairs.max() for pairs in parts])])
    ends = [start + np.concatenate([pairs, pairs[:, ::-1]]).T for start, pairs in zip(ptr[:-1], parts, strict=True)]
    kinds = [np.stack([random.integers(0, size, len(pairs)) for size in EDGE_SIZES], axis=1) for pairs in parts]
    return Sample(
        Graphs.from_edges(
            np.concatenate(ends, axis=1),
            node_ptr=ptr,
            x=random.normal(size=(int(ptr[-1]), FEATURES)).astype(dtype),
            edge_attr=np.concatenate([np.concatenate([kind, kind]) for kind in kinds]),
        )
    )


def rows(width: int = 16, seed: int = 3) -> Tensor:
    """A random row for each node of the sample."""
    count = sample().graphs.num_nodes
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed))


def _without_symmetry(random: np.random.Generator) -> np.ndarray:
    """Edges (m, 2), once each, of a connected graph whose nodes WL tells apart."""
    while True:
        n = int(random.integers(8, 15))
        pairs = {(int(random.integers(v)), v) for v in range(1, n)}
        pairs |= {tuple(sorted(random.choice(n, 2, replace=False).tolist())) for _ in range(n // 2)}
        edges = np.array(sorted(pairs))
        if refine(Graphs.from_edges(np.concatenate([edges, edges[:, ::-1]]).T)).num_colours[-1] == n:
            return edges


def build(name: str, level: str, edges: bool = False, **options: Any) -> nn.Module:
    torch.manual_seed(0)
    size = {"rounds": 2} if name in MACHINES else {"hidden_channels": 16, "num_layers": 2}
    size |= {"min_graphs": 1} if name == "wl-linear" else {}  # no two graphs of the sample have a colour in common
    settings = Settings.of(name, **size | options)
    return build_model(name, settings.options, FEATURES, 3, level, EDGE_SIZES if edges else 0)
