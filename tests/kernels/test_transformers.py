"""Transformers: scikit-learn's own checks and tools, new graphs as if they had been there from the start, bad input."""

import warnings
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scikit_learn import CHECKS, check_parameters, check_unfitted
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from tiny import tiny
from torch_geometric.loader import DataLoader

import wlhn
from wlhn import OptimalAssignmentKernel, TreeWasserstein, WLFeatures, WLKernel
from wlhn.data import Dataset, as_dataset, load
from wlhn.errors import InputError
from wlhn.graphs import Graphs, to_networkx, to_pyg
from wlhn.kernels import dense

KERNELS = (WLKernel, OptimalAssignmentKernel, TreeWasserstein)
ALL = (*KERNELS, WLFeatures)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("check", CHECKS)
def test_checks_of_scikit_learn(check: str, kind: Any) -> None:
    check_parameters(kind, check)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_what_is_not_fitted_says_so(kind: Any) -> None:
    check_unfitted(kind, "transform", "colour_counts")


@pytest.fixture(scope="module")
def data() -> Dataset:
    return tiny(60)


@pytest.fixture(scope="module")
def odd() -> Graphs:
    """Graphs with labels, numbers, and labels of edges, some with directions; no two alike."""
    rng = np.random.default_rng(0)
    made = []
    for k in range(30):
        graph = nx.gnp_random_graph(int(rng.integers(2, 12)), 0.3, seed=k, directed=k % 3 == 0)
        nx.set_node_attributes(graph, {v: int(rng.integers(4)) for v in graph}, "label")
        nx.set_node_attributes(graph, {v: rng.normal(size=2).tolist() for v in graph}, "x")
        nx.set_edge_attributes(graph, {e: int(rng.integers(2)) for e in graph.edges}, "label")
        made.append(graph)
    return wlhn.as_graphs(made)


SETTINGS: list[dict[str, Any]] = [
    {},
    {"normalise": False},
    {"start": "uniform", "weights": [1, 0.5, 0.25, 2]},
    {"start": "degree"},
    {"start": ("label", 1), "bins": 3},
    {"start": "features", "binning": "k-means", "bins": 5},
    {"edge_labels": True},
    {"directed": True},
    {"directed": True, "edge_labels": True},
]


@pytest.mark.parametrize("kind", KERNELS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
def test_new_graphs_are_as_if_they_had_been_there(kind: Any, parameters: dict[str, Any], odd: Graphs) -> None:
    """Bins apart, which are the fitted graphs' own, so where there are bins both get all graphs to bin by."""
    fitted, new = np.arange(18), np.arange(18, 30)
    kernel = kind(depth=3, **parameters)
    everything = kernel.fit_transform(odd)
    if "bins" in parameters:
        codes = kernel.start_.values(odd)
        odd = Graphs(**vars(odd) | {"x": codes.reshape(len(codes), -1)})
        kernel = kind(depth=3, **parameters | {"start": "features"})
        np.testing.assert_array_equal(kernel.fit_transform(odd), everything)
    square = kernel.fit_transform(odd.select(fitted))
    block = kernel.transform(odd.select(new))
    counts = kernel.colour_counts(odd.select(new))
    assert counts.unseen.sum() > 0 or parameters.get("start") == "degree"
    np.testing.assert_allclose(square, everything[np.ix_(fitted, fitted)], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(block, everything[np.ix_(new, fitted)], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.transform(odd.select(fitted)), square, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kind", KERNELS, ids=lambda kind: kind.__name__)
def test_directions_count_where_they_are_asked_for(kind: Any) -> None:
    """Two edges out of a node or two into it: with directions the middle differs at depth 1, and so do the ends."""
    graphs = [nx.DiGraph([(0, 1), (0, 2)]), nx.DiGraph([(1, 0), (2, 0)])]
    kernel = kind(depth=1, start="uniform", directed=True, normalise=False)
    alike = kernel.fit_transform(graphs)
    assert alike[0, 1] == {"WLKernel": 9, "OptimalAssignmentKernel": 3, "TreeWasserstein": 6}[kind.__name__]
    both_ways = [graph.to_undirected() for graph in graphs]
    same = kind(depth=1, start="uniform", directed=True, normalise=False).fit_transform(both_ways)
    assert same[0, 1] == same[0, 0]


@pytest.mark.parametrize("kind", KERNELS, ids=lambda kind: kind.__name__)
def test_one_hot_columns_are_labels(kind: Any, odd: Graphs) -> None:
    """As PyG keeps them, alone or after numbers; several groups are several labels."""
    label = np.asarray(odd.node_label)
    numbers = np.random.default_rng(1).normal(size=(len(label), 2))
    expected = kind(3, start="label").fit_transform(odd)
    for x in (np.eye(4)[label], np.hstack([numbers, np.eye(4)[label]])):
        unlabelled = to_pyg(Graphs(**vars(odd) | {"x": x, "node_label": None}))
        np.testing.assert_array_equal(kind(3).fit_transform(unlabelled), expected)
    two = np.stack([label, label % 2 + odd.degree % 2], axis=1)
    groups = Graphs(**vars(odd) | {"x": np.hstack([np.eye(4)[two[:, 0]], np.eye(3)[two[:, 1]]]), "node_label": None})
    coded = Graphs(**vars(odd) | {"x": two, "node_label": None})
    np.testing.assert_array_equal(kind(3).fit_transform(groups), kind(3).fit_transform(coded))


def test_features_of_one_hot_columns_are_called_by_their_number() -> None:
    graphs = [Graphs.from_edges([[0, 1], [1, 0]], x=[[1.0, 0.0, 0.5], [0.0, 1.0, 0.2]])]
    assert WLFeatures(1).fit(graphs).get_feature_names_out().tolist() == ["0.0 1", "0.1 0", "1.0 1 (0)", "1.1 0 (1)"]


def test_numbers_that_do_not_count_are_told() -> None:
    graphs = [Graphs.from_edges([[0, 1], [1, 0]], x=[[1.0, 0.3], [0.0, 1.0]])]
    with pytest.warns(UserWarning, match=r"start from their degrees.*start='features'"):
        WLKernel().fit(graphs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        WLKernel(start="degree").fit(graphs)


@pytest.mark.parametrize("code", ["counts", "thermometer"])
@pytest.mark.parametrize("normalise", [False, True])
def test_products_of_features_are_kernels(code: str, normalise: bool, odd: Graphs) -> None:
    weights = [1, 2, 0.5, 3]
    features = WLFeatures(3, code=code, normalise=normalise, weights=weights)
    kind = WLKernel if code == "counts" else OptimalAssignmentKernel
    kernel = kind(3, normalise=normalise, weights=weights)
    fitted, new = odd.select(range(18)), odd.select(range(18, 30))
    rows = features.fit_transform(fitted)
    np.testing.assert_allclose((rows @ rows.T).toarray(), kernel.fit_transform(fitted))
    np.testing.assert_allclose((features.transform(new) @ rows.T).toarray(), kernel.transform(new))
    if normalise:
        np.testing.assert_allclose((rows.multiply(rows)).sum(axis=1), 1)


def test_unseen_colours_are_counted() -> None:
    """A star of four leaves: neither its middle's degree nor that its leaves hang there was fitted."""
    kernel = OptimalAssignmentKernel(depth=1).fit([nx.path_graph(3), nx.path_graph(4)])
    star = kernel.colour_counts([nx.star_graph(4), nx.path_graph(3)])
    assert star.unseen.tolist() == [[1, 2], [0, 0]]
    own, path = 5 + 5, 3 + 3
    assert kernel.transform([nx.star_graph(4)])[0, 0] == pytest.approx(2 / np.sqrt(own * path))


def test_every_kind_of_input_is_the_same(data: Dataset) -> None:
    array, pyg = np.empty(len(data.graphs), object), to_pyg(data.graphs)
    array[:] = to_networkx(data.graphs)
    kinds = data, data.graphs, list(data), array.tolist(), array, pyg, DataLoader(pyg, batch_size=7)
    first, *others = [OptimalAssignmentKernel(2).fit_transform(graphs) for graphs in kinds]
    for other in others:
        np.testing.assert_array_equal(other, first)
    np.testing.assert_array_equal(OptimalAssignmentKernel(2).fit(array).transform(graph for graph in array), first)


def test_text_labels_mean_the_same_in_new_graphs() -> None:
    def path(*labels: str) -> nx.Graph:
        graph = nx.path_graph(len(labels))
        nx.set_node_attributes(graph, dict(enumerate(labels)), "label")
        nx.set_edge_attributes(graph, "single", "label")
        return graph

    graphs = [path("C", "O", "N"), path("O", "N"), path("N", "F", "F", "Cl"), path("F", "S", "P")]
    for kind in KERNELS:
        kernel = kind(2, edge_labels=True)
        everything = kernel.fit_transform(graphs)
        np.testing.assert_allclose(kernel.fit(graphs[:2]).transform(graphs[2:]), everything[2:, :2])
    names = WLFeatures(1, edge_labels=True).fit(graphs).get_feature_names_out().tolist()
    assert {"1.0 Cl (F by single)", "1.1 Cl (F by single)"} & set(names)
    numbers = nx.path_graph(2)
    nx.set_node_attributes(numbers, 1, "label")
    nx.set_edge_attributes(numbers, 1, "label")
    kernel.fit([numbers, numbers])
    with pytest.raises(InputError, match="node labels: expected numbers as in the fit, found text"):
        kernel.transform(graphs)


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize(("names", "start"), [(("label", "ring"), "label"), (("element", "ring"), "features")])
def test_several_columns_of_text_mean_the_same_in_new_graphs(kind: Any, names: tuple[str, str], start: str) -> None:
    """As if all had been there from the start, whatever categories new graphs have or lack, in whatever order."""

    def path(first: str, second: str, names: tuple[str, str] = names) -> nx.Graph:
        graph = nx.path_graph(len(first))
        for name, values in zip(names, (first, second) if names[1] == "ring" else (second, first), strict=True):
            nx.set_node_attributes(graph, dict(enumerate(values)), name)
        return graph

    fitted = [path("CO", "ab"), path("CCO", "abb")]
    new = [path("NO", "ab"), path("O", "b"), path("CO", "ab", (names[1], names[0]))]
    everything = kind(1, start=start).fit_transform(fitted + new)
    np.testing.assert_allclose(kind(1, start=start).fit(fitted).transform(new), everything[2:, :2])


def test_categories_of_another_data_set_are_refused() -> None:
    def data(values: str) -> Dataset:
        graph = nx.path_graph(len(values))
        nx.set_node_attributes(graph, dict(enumerate(values)), "ring")
        nx.set_node_attributes(graph, dict(enumerate(values)), "kind")
        return as_dataset([graph, graph], [0, 1])

    kernel = WLKernel(1, start="features").fit(data("ab"))
    assert kernel.transform(data("ba")).shape == (2, 2)
    with pytest.raises(InputError, match="columns ring and kind: their categories are not those of the fit"):
        kernel.transform(data("bc"))


def test_graphs_without_edges_have_no_labels_of_edges_to_lack() -> None:
    atom, bond = nx.empty_graph(1), nx.path_graph(2)
    for graph in (atom, bond):
        nx.set_node_attributes(graph, "C", "label")
    nx.set_edge_attributes(bond, "single", "label")
    for kind in KERNELS:
        everything = kind(1, edge_labels=True).fit_transform([bond, bond, atom])
        np.testing.assert_allclose(kind(1, edge_labels=True).fit([bond, bond]).transform([atom]), everything[2:, :2])


def test_they_work_in_scikit_learns_tools(data: Dataset) -> None:
    graphs, y = to_networkx(data.graphs), ["cycle" if k else "path" for k in data.y]
    for kernel in (WLKernel(2, start="degree"), OptimalAssignmentKernel(2, start="degree")):
        machine = make_pipeline(kernel, SVC(kernel="precomputed", C=10))
        assert cross_val_score(clone(machine), graphs, y, cv=3).mean() > 0.9
    machine = make_pipeline(TreeWasserstein(2, start="degree", gamma=1.0), SVC(kernel="precomputed", C=10))
    assert cross_val_score(machine, data, y, cv=3).mean() > 0.9
    linear = make_pipeline(WLFeatures(start="degree"), LogisticRegression())
    grid = {"wlfeatures__depth": np.array([0, 1]), "wlfeatures__code": ["log", "thermometer"]}
    search = GridSearchCV(linear, grid, cv=3).fit(graphs, y)
    assert search.best_score_ > 0.9


def test_columns_have_names(data: Dataset) -> None:
    features = WLFeatures(2, sparse_output=False).set_output(transform="pandas")
    table = features.fit_transform(data)
    names = features.get_feature_names_out()
    assert list(table.columns) == list(names)
    assert len(set(names)) == len(names)
    depth, colour = features.colour_of_column_.T
    assert [f"{t}.{c}" for t, c in zip(depth, colour, strict=True)] == [name.split()[0] for name in names]
    np.testing.assert_array_equal(table.to_numpy().sum(axis=1), 3 * np.diff(data.graphs.node_ptr))
    codes = WLFeatures(1, code="thermometer").fit(data)
    assert len(codes.get_feature_names_out()) == codes.transform(data).shape[1] == len(codes.colour_of_column_)
    similar = WLKernel(1).set_output(transform="pandas").fit_transform(data)
    assert similar.columns[7] == "wlkernel7"


def test_names_say_what_a_colour_is() -> None:
    star = nx.star_graph(3)
    names = WLFeatures(2, start="uniform").fit([star]).get_feature_names_out().tolist()
    told = sorted(name.split(" ", 1)[1] for name in names)  # which child comes first is a hash's business
    assert told == ["·", "· (3× ·)", "· (3× ·)", "· (·)", "· (·)"]
    mutag = WLFeatures(1).fit(load("MUTAG")).get_feature_names_out().tolist()
    assert sum(name.endswith(" N (C, 2× O)") for name in mutag) == 1  # the nitro group
    hub = nx.star_graph(500)
    nx.set_node_attributes(hub, {v: 10**6 + v for v in hub}, "label")
    assert max(map(len, WLFeatures(3).fit([hub]).get_feature_names_out())) < 120


def test_rare_colours_can_be_left_out(data: Dataset) -> None:
    everything, common = WLFeatures(3).fit(data), WLFeatures(3, min_graphs=2).fit(data)
    kept = np.diff(everything.transform(data).tocsc().indptr) >= 2
    assert 0 < kept.sum() < len(kept)
    np.testing.assert_array_equal(everything.transform(data).toarray()[:, kept], common.transform(data).toarray())
    assert list(common.get_feature_names_out()) == list(everything.get_feature_names_out()[kept])


def test_bins_are_those_of_the_fit() -> None:
    """Numbers that fall into the same bins are the same, wherever the new graphs' own quantiles lie."""

    def edgeless(values: list[float]) -> Graphs:
        return Graphs.from_edges(np.empty((2, 0), int), num_nodes=len(values), x=np.array(values)[:, None])

    for binning in ("quantiles", "k-means"):
        kernel = OptimalAssignmentKernel(0, start="features", binning=binning, bins=2)
        kernel.fit([edgeless([0.0, 0.1, 5.0, 5.1, 0.2, 5.2])])
        assert kernel.transform([edgeless([-9.0, 0.3, 0.2, 7.0, 8.0, 9.0])]).item() == 1
        assert kernel.transform([edgeless([-9.0, 0.3])]).item() == pytest.approx(2 / np.sqrt(12))


def numbers(*columns: list[float]) -> Graphs:
    """A path of nodes with these columns of numbers."""
    path = nx.path_graph(len(columns[0]))
    nx.set_node_attributes(path, dict(enumerate(zip(*columns, strict=True))), "x")
    return wlhn.as_graphs(path)


@pytest.mark.parametrize("binning", ["quantiles", "k-means"])
def test_a_missing_number_is_a_value_of_its_own(binning: str) -> None:
    """Not the mean's, and the others stay apart."""
    fitted = numbers([*np.arange(20.0), np.nan, np.nan])
    kernel = WLFeatures(0, start="features", binning=binning, bins=5, sparse_output=False).fit([fitted])
    colours = kernel.hierarchy_.colours[0]
    known, missing = set(colours[:20].tolist()), set(colours[20:].tolist())
    assert len(known) >= 4
    assert len(missing) == 1
    assert not known & missing
    new = kernel.transform([numbers([np.nan, 0.5, np.nan, np.nan])])[0]
    assert (new[colours[20]], new[colours[0]]) == (3, 1)


def test_names_say_what_was_missing() -> None:
    kernel = WLFeatures(0, start="features").fit([numbers([0.0, 2.0, np.nan], [5.0, 6.0, 6.0])])
    assert {name.split(" ", 1)[1] for name in kernel.get_feature_names_out()} == {
        "≤ 0.5|≤ 5.5",
        "> 1.5|> 5.5",
        "missing|> 5.5",
    }


@pytest.mark.parametrize("binning", ["quantiles", "k-means"])
def test_a_gap_where_the_fit_had_none_is_the_mean(binning: str) -> None:
    kernel = WLKernel(0, start="features", binning=binning, bins=3).fit([numbers([0.0, 1.0, 1.0, 2.0])])
    np.testing.assert_array_equal(
        kernel.transform([numbers([np.nan, 0.0, 2.0])]), kernel.transform([numbers([1.0, 0.0, 2.0])])
    )


@pytest.mark.parametrize("kind", KERNELS)
def test_missing_numbers_of_edges_are_a_value_of_their_own(kind: Any) -> None:
    def path(*values: float) -> nx.Graph:
        graph = nx.path_graph(len(values) + 1)
        nx.set_edge_attributes(graph, {(k, k + 1): [value] for k, value in enumerate(values)}, "edge_attr")
        return graph

    nothing = float("nan")
    graphs = [path(1.0, nothing), path(1.0, 2.0), path(nothing, 1.0), path(1.0, 1.5), path(3.0)]
    kernel = kind(1, start="uniform", edge_labels=True)
    everything = kernel.fit_transform(graphs)
    np.testing.assert_allclose(everything[0], everything[2])  # the same, read from its other end
    same = kind(1, start="uniform", edge_labels=True).fit_transform([path(1.0, 9.0), *graphs[1:]])
    np.testing.assert_allclose(everything[0, [1, 3, 4]], same[0, [1, 3, 4]])  # like any value that no other has
    np.testing.assert_allclose(kernel.fit(graphs[:2]).transform(graphs[2:]), everything[2:, :2])


def test_few_values_stay_apart_and_no_order_shows_in_clusters() -> None:
    rng = np.random.default_rng(1)
    one_hot = Graphs.from_edges(
        np.empty((2, 0), int), num_nodes=100, x=np.eye(4)[rng.choice(4, 100, p=[0.9, 0.05, 0.04, 0.01])]
    )
    for binning in ("quantiles", "k-means"):
        counts = WLFeatures(0, start="features", binning=binning, bins=4).fit(one_hot).counts_
        assert counts.matrix.shape[1] == len(np.unique(one_hot.x, axis=0))
    x = rng.normal(size=(300, 3))
    many = Graphs.from_edges(np.empty((2, 0), int), node_ptr=np.arange(0, 301, 10), x=x)
    order = rng.permutation(30)
    kernel = OptimalAssignmentKernel(0, start="features", binning="k-means", bins=6)
    before, after = kernel.fit_transform(many), kernel.fit_transform(many.select(order))
    np.testing.assert_array_equal(after, before[np.ix_(order, order)])


def test_a_matrix_too_large_is_refused_before_the_work(monkeypatch: pytest.MonkeyPatch, data: Dataset) -> None:
    free = type("Memory", (), {"available": 1000})
    monkeypatch.setattr(dense.psutil, "virtual_memory", lambda: free)
    monkeypatch.setattr("wlhn.kernels.base.refine", None)  # not reached
    for kind in KERNELS:
        with pytest.raises(InputError, match=r"60 × 60 numbers .* explicit features"):
            kind().fit_transform(data)


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        (WLKernel, {"depth": -1}, "depth: must be 0 or more"),
        (WLKernel, {"depth": 1.5}, "depth: must be a whole number, found 1.5"),
        (WLKernel, {"depth": True}, "depth: must be a whole number, found True"),
        (TreeWasserstein, {"depth": 2.0, "continuous": True}, "depth: must be a whole number, found 2.0"),
        (WLKernel, {"start": "colour"}, "start: must be uniform"),
        (WLKernel, {"start": "features"}, "no node features"),
        (WLKernel, {"start": ("label", 0)}, "no column 0 of node features here, the graphs have none"),
        (WLKernel, {"edge_labels": True}, "neither edge labels nor edge features"),
        (OptimalAssignmentKernel, {"weights": [1]}, "weights: expected 6 numbers"),
        (OptimalAssignmentKernel, {"binning": "equal"}, "binning: must be quantiles or k-means"),
        (OptimalAssignmentKernel, {"bins": 0}, "bins: must be 1 or more"),
        (OptimalAssignmentKernel, {"bins": 2.5}, "bins: must be a whole number, found 2.5"),
        (TreeWasserstein, {"gamma": 0}, "gamma: expected a number above 0"),
        (TreeWasserstein, {"continuous": True}, "no node features"),
        (TreeWasserstein, {"continuous": True, "normalise": False}, "normalise=False: continuous"),
        (TreeWasserstein, {"continuous": True, "bins": 4}, "bins=4: continuous"),
        (TreeWasserstein, {"continuous": True, "binning": "k-means"}, "binning=k-means: continuous"),
        (WLFeatures, {"code": "tfidf"}, "code: must be"),
        (WLFeatures, {"min_graphs": 0}, "min_graphs: must be 1 or more"),
    ],
)
def test_bad_parameters_are_one_sentence(kind: Any, parameters: dict[str, Any], message: str, data: Dataset) -> None:
    with pytest.raises(InputError, match=message):
        kind(**parameters).fit_transform(Graphs(**vars(data.graphs) | {"edge_label": None}))


def test_bad_graphs_are_one_sentence(data: Dataset) -> None:
    for kind in ALL:
        with pytest.raises(InputError, match="graph 1 has no nodes"):
            kind().fit([nx.path_graph(2), nx.empty_graph(0)])
        with pytest.raises(InputError, match="graph 0 has no nodes"):
            kind().fit([nx.path_graph(2)]).transform([nx.empty_graph(0)])
        with pytest.raises(InputError, match="no graph"):
            kind().fit([])
        with pytest.raises(InputError, match="expected a graph"):
            kind().fit(["graph"])
        with pytest.raises(InputError, match="no node labels"):
            kind().fit(data).transform([nx.path_graph(2)])


def test_labels_first_then_degrees() -> None:
    assert WLKernel(1).fit(load("MUTAG")).start_.columns == ("label",)
    assert WLKernel(1).fit([nx.path_graph(3)]).start_.columns == ("degree",)


def test_molecules_differ_by_their_atoms(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("smiles,y\nCO,0\nCN,1\nCC,0\nCCl,1\n")
    matrix = OptimalAssignmentKernel(depth=3).fit_transform(load(tmp_path / "m.csv"))
    assert (matrix[~np.eye(4, dtype=bool)] < 1).all()


@pytest.mark.parametrize("beside", [{}, {"charge": 0.5}], ids=["text", "text and numbers"])
def test_without_a_start_nodes_start_from_all_their_categories(beside: dict[str, Any]) -> None:
    def path(*colours: str) -> nx.Graph:
        graph = nx.path_graph(len(colours))
        for v, colour in enumerate(colours):
            graph.nodes[v].update(colour=colour, shape="round" if v else "square", **beside)
        return graph

    kernel = WLKernel(depth=1)
    matrix = kernel.fit_transform([path("red", "red"), path("red", "blue")])
    assert len(kernel.start_.columns) == 4  # two colours and two shapes, whatever numbers stand beside them
    assert matrix[0, 1] < 1
    assert np.allclose(kernel.transform([path("red", "blue")])[0], matrix[1])
