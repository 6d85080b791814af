"""Draws the figures of these pages: python docs/figures.py"""

from pathlib import Path

import networkx as nx
import numpy as np

import wlhn
from wlhn.data import load
from wlhn.embeddings.planar import planar
from wlhn.report.drawings import refinement_steps, shades_by_depth
from wlhn.report.plots import distance_heatmap
from wlhn.report.style import PALETTE, new_figure, quiet, write_figure
from wlhn.report.trees import disc, tree

HERE = Path(__file__).parent / "figures"


def main() -> None:
    graph = nx.lollipop_graph(4, 3)
    hierarchy = wlhn.refine(graph, 3)
    refinement_steps(list(graph.edges), hierarchy.colours, HERE / "refinement.svg")
    tree(
        hierarchy.tree.parent,
        HERE / "tree.svg",
        labels=[number for count in hierarchy.num_colours for number in range(count)],
        fill=np.concatenate(shades_by_depth(hierarchy.colours)),
        title="the WL hierarchy of this graph",
    )
    distance = wlhn.wl_distance(hierarchy, np.arange(7)[:, None], np.arange(7)[None])
    distance_heatmap(distance, HERE / "distances.svg", title="WL distances of its nodes", unit="steps in the tree")
    colours = wlhn.refine(load("MUTAG").graphs, 2, "label").tree
    names = ["root", "depth 0", "depth 1", "depth 2"]
    disc(planar(colours).points, colours.parent, HERE / "disc.png", group=colours.depth, names=names, title="MUTAG")
    depth_and_tau(HERE / "tau.svg")


def depth_and_tau(path: Path) -> None:
    """A path that always turns by a right angle to the same side, for a few τ: how far from the root is it?"""
    import torch

    from wlhn.hyperbolic.polar import step

    figure = new_figure(6, 3.4)
    axes = quiet(figure.subplots())
    for colour, tau in zip(PALETTE, (0.5, 1.0, 2 * np.arcsinh(1), 2.5), strict=False):
        r, e, u = (torch.tensor(v, dtype=torch.float64) for v in (tau, [1.0, 0.0], [1.0, 0.0]))
        radii = [float(r)]
        for _ in range(14):
            r, e, u = step(r, e, torch.stack([-u[1], u[0]]), tau)
            radii.append(float(r))
        axes.plot(range(15), radii, color=colour, label=f"τ = {tau:.2f}", marker="o", markersize=3)
    axes.set(xlabel="depth", ylabel="distance from the root", ylim=(0, 22))
    axes.legend(frameon=False)
    write_figure(figure, path)


if __name__ == "__main__":
    main()
