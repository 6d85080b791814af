"""Graphs as drawings: tinted nodes, and colour refinement round by round."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wlhn.report.style import AGAINST, FOR, bare, new_figure, plain, shades, write_figure
from wlhn.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STRESS = 120  # up to this many nodes, distances of the drawing follow those of the graph


def layout(edges: ArrayLike, num_nodes: int) -> NDArray[np.float64]:
    """Places (nodes, 2) for a drawing; components stand side by side.

    >>> layout([[0, 1], [1, 2]], 3).shape
    (3, 2)
    """
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(num_nodes))
    graph.add_edges_from((int(u), int(v)) for u, v in np.asarray(edges, int).reshape(-1, 2) if u != v)
    place, right = np.zeros((num_nodes, 2)), 0.0
    for members in nx.connected_components(graph):
        part, nodes = graph.subgraph(members), sorted(members)
        if len(nodes) <= STRESS:
            at = nx.kamada_kawai_layout(part, scale=np.sqrt(len(nodes)))
        else:
            at = nx.spring_layout(part, seed=0, scale=np.sqrt(len(nodes)))
        spots = np.array([at[v] for v in nodes])
        spots -= [spots[:, 0].min() - right, spots[:, 1].mean()]
        place[nodes] = spots
        right = spots[:, 0].max() + 1.0
    return place


def tinted_graph(
    edges: ArrayLike,
    value: ArrayLike,
    path: str | Path,
    *,
    labels: Sequence[Any] = (),
    title: str = "",
) -> None:
    """A graph whose nodes are tinted from blue (below 0) over white to vermilion: edges (m, 2), one value a node."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    values = np.asarray(value, float)
    ends = np.asarray(edges, int).reshape(-1, 2)
    reach = float(np.abs(values).max(initial=0)) or 1.0
    colours = ScalarMappable(
        Normalize(-reach, reach), LinearSegmentedColormap.from_list("against-for", [AGAINST, "#FFFFFF", FOR])
    )
    figure = new_figure(6.5, 5)
    axes = figure.subplots()
    _draw(axes, ends, layout(ends, len(values)), colours.to_rgba(values), labels)
    axes.set_title(plain(title, 90), fontsize="medium")
    figure.colorbar(colours, ax=axes, label="contribution", shrink=0.75)
    write_figure(figure, path)


def refinement_steps(edges: ArrayLike, colours: Sequence[ArrayLike], path: str | Path, *, title: str = "") -> None:
    """One graph, drawn once for each depth of refinement: nodes of one WL colour share shade and number."""
    ends = np.asarray(edges, int).reshape(-1, 2)
    place = layout(ends, len(np.asarray(colours[0])))
    wide, high = np.ptp(place, axis=0) if len(place) else (1.0, 1.0)
    figure = new_figure(3.2 * len(colours), 0.8 + 2.8 * float(np.clip(high / max(wide, 1e-9), 0.25, 1)))
    shade = shades_by_depth(colours)
    for t, (axes, colour) in enumerate(zip(np.ravel(figure.subplots(1, len(colours))), colours, strict=True)):
        number, count = np.unique(np.asarray(colour), return_inverse=True)[1], len(shade[t])
        _draw(axes, ends, place, shade[t][number], number.tolist())
        axes.set_title(f"depth {t}: {counted(count, 'colour')}", fontsize="medium")
    figure.suptitle(plain(title, 90))
    write_figure(figure, path)


def shades_by_depth(colours: Sequence[ArrayLike]) -> list[NDArray[np.str_]]:
    """A shade for each WL colour of each depth: that of its first node at the last depth, kept as colours split.

    >>> [shade.tolist() for shade in shades_by_depth([[0, 0, 0], [0, 1, 0]])]
    [['#0072B2'], ['#0072B2', '#E69F00']]
    """
    last = np.unique(np.asarray(colours[-1]), return_inverse=True)[1]
    known = np.array(shades(int(last.max(initial=-1)) + 1), dtype=str)
    return [known[last[np.unique(np.asarray(colour), return_index=True)[1]]] for colour in colours]


def _draw(axes: Axes, ends: NDArray[Any], place: NDArray[Any], fill: Any, labels: Sequence[Any]) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba_array

    bare(axes)
    size = float(np.clip(6000 / max(len(place), 1), 8, 260))
    axes.add_collection(LineCollection(list(place[ends]), colors="#888888", linewidths=1.0, zorder=1))
    axes.scatter(
        place[:, 0], place[:, 1], s=size, c=fill, edgecolors="#555555", linewidths=0.7, zorder=2, clip_on=False
    )
    if size >= 100:
        dark = to_rgba_array(fill)[:, :3] @ [0.299, 0.587, 0.114] < 0.5
        for (x, y), label, on_dark in zip(place, labels, dark, strict=False):
            style: dict[str, Any] = {"color": "white" if on_dark else "black", "fontsize": "small", "zorder": 3}
            axes.annotate(plain(label, 6), (x, y), ha="center", va="center", **style)
    axes.margins(0.12)
