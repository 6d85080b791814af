"""Graphs or nodes as points of a map, with their classes, a model's answers and their nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from wlhn.data.dataset import Dataset
from wlhn.data.display import graph_names, node_name
from wlhn.hierarchy import Hierarchy
from wlhn.hyperbolic.polar import half_angle_distance
from wlhn.inspection.similar import LearnedSpace
from wlhn.kernels import ColourCounts, compare_graphs
from wlhn.runs.trained import Trained

NEAREST = 8


@dataclass(frozen=True, eq=False)
class Items:
    """Points of a map; and, for all nodes of the data, the class and the answer of the item they belong to."""

    document: dict[str, Any]  # name, x, y, graph, node, true, answer, near, distance, measure: as the page takes them
    node_class: NDArray[Any] | None = None  # (nodes of the data,) class indices
    node_answer: NDArray[Any] | None = None
    columns_per_node: dict[str, NDArray[Any]] = field(default_factory=dict)  # numbers, where targets are not classes


def graph_items(
    dataset: Dataset, trained: Trained | None, space: LearnedSpace | None, hierarchy: Hierarchy, limit: int
) -> Items:
    """The graphs of a data set (the first so many)."""
    graphs, n = dataset.graphs, min(len(dataset.graphs), limit)
    if space is not None:
        points = _learned_map(space.graph_r[:n], space.graph_e[:n])
    else:
        counts = ColourCounts.of(hierarchy).select(np.arange(n))
        points = _map(counts.matrix, compare_graphs("wasserstein", counts, normalised=False), "WL distance")
    document = {"name": [str(name)[:200] for name in graph_names(dataset)[:n]], "graph": list(range(n)), "node": None}
    if dataset.level == "graph":
        return _answers(dataset, trained).items(document | points, graphs.graph_of_node)
    targets = _answers(dataset, None)  # which belong to nodes: colours have them, graphs don't
    document |= {"true": [None] * n, "answer": [None] * n}
    return Items(document | points, targets.true, None, targets.numbers)


def node_items(dataset: Dataset, trained: Trained | None, space: LearnedSpace | None, limit: int) -> Items | None:
    """The nodes of a data set (the first so many), where a model places them; without a model there is no map."""
    if space is None:
        return None
    n = min(dataset.graphs.num_nodes, limit)
    row = torch.from_numpy(space.hierarchy.colours[-1][:n].astype(np.int64))
    graph_of = dataset.graphs.graph_of_node
    document = {"name": [node_name(dataset, k)[:200] for k in range(n)], "graph": graph_of[:n].tolist()}
    document |= {"node": list(range(n)), **_learned_map(space.r[row], space.e[row])}
    return _answers(dataset, trained).items(document, np.arange(len(graph_of)))


@dataclass(frozen=True)
class _Answers:
    true: NDArray[Any] | None = None  # class indices
    answer: NDArray[Any] | None = None
    numbers: dict[str, NDArray[Any]] = field(default_factory=dict)

    def items(self, document: dict[str, Any], item_of_node: NDArray[Any]) -> Items:
        """Items that have these answers, the first so many of all."""
        n = len(document["name"])
        true = [None] * n if self.true is None else [None if t < 0 else t for t in self.true[:n].tolist()]
        answer = [None] * n if self.answer is None else self.answer[:n].tolist()
        node_class, node_answer = (None if v is None else v[item_of_node] for v in (self.true, self.answer))
        numbers = {name: column[item_of_node] for name, column in self.numbers.items()}
        return Items(document | {"true": true, "answer": answer}, node_class, node_answer, numbers)


def _answers(dataset: Dataset, trained: Trained | None) -> _Answers:
    """True and predicted classes; or, for other targets, numbers by name."""
    said = None
    if trained is not None and trained.level == dataset.level:
        said = np.concatenate([part.outputs for part in trained.predict(dataset.graphs)])
    if dataset.task == "classification":
        known = trained is not None and trained.classes == dataset.classes
        return _Answers(dataset.y, said.argmax(axis=1) if said is not None and known else None)
    y = dataset.y.reshape(len(dataset), -1)
    names = dataset.targets or tuple(f"target {k}" for k in range(y.shape[1]))
    numbers = {f"target {name}": y[:, k].astype(float) for k, name in enumerate(names[:6]) if k < y.shape[1]}
    if said is not None:
        numbers |= {f"predicted {name}": said[:, k] for k, name in enumerate(names[:6])}
    return _Answers(numbers=numbers)


def _learned_map(r: torch.Tensor, e: torch.Tensor) -> dict[str, Any]:
    """The places and nearest neighbours of points in polar form."""
    sin_half = torch.cdist(e, e, compute_mode="donot_use_mm_for_euclid_dist") / 2
    distance = half_angle_distance(r[:, None], r[None], sin_half).numpy()
    return _map((r[:, None] * e).numpy(), distance, "learned hyperbolic distance")


def _map(rows: Any, distance: NDArray[Any], measure: str) -> dict[str, Any]:
    """The places and nearest neighbours of items, from a row for each and the distances of all pairs."""
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1, kind="stable")[:, : min(NEAREST, len(distance) - 1)]
    nearest = np.round(np.take_along_axis(distance, near, axis=1), 4)
    x, y = np.round(_two_components(rows), 4).T.tolist()
    return {"x": x, "y": y, "near": near.tolist(), "distance": nearest.tolist(), "measure": measure}


def _two_components(rows: Any) -> NDArray[Any]:
    """Rows in the plane in which they differ most, from −1 to 1."""
    from sklearn.decomposition import PCA, TruncatedSVD

    if rows.shape[0] < 3 or rows.shape[1] < 2:
        return np.stack([np.linspace(-1, 1, rows.shape[0]), np.zeros(rows.shape[0])], axis=1)
    plane = TruncatedSVD(2, random_state=0) if sparse.issparse(rows) else PCA(2, random_state=0)
    place = plane.fit_transform(sparse.csr_matrix(rows).log1p() if sparse.issparse(rows) else rows)
    place = place - place.mean(axis=0)
    return place / max(float(np.abs(place).max()), 1e-30)
