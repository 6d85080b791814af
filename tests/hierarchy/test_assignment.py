"""New graphs against a fitted hierarchy: what is known keeps its number, what is not says where it left."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import collections

from wlhn import Graphs, InputError, as_graphs, assign, refine
from wlhn.graphs.convert import _join
from wlhn.hierarchy.assignment import Table, look_up


@given(collections(), st.booleans())
def test_fitted_graphs_find_themselves(graphs: Graphs, directed: bool) -> None:
    for initial, labelled in (("uniform", False), ("degree", True), ("label", True)):
        fitted = refine(graphs, 3, initial, labelled, directed)
        again = assign(fitted, graphs)
        assert all(np.array_equal(x, y) for x, y in zip(again.colours, fitted.colours, strict=True))
        assert (again.left_at == 4).all()
        assert again.known == [1.0] * 4


@given(collections(), collections(), st.booleans(), st.booleans())
def test_a_colour_is_known_exactly_where_a_fitted_node_would_share_it(
    old: Graphs, new: Graphs, labelled: bool, directed: bool
) -> None:
    """The judge: old and new graphs refined together."""
    fitted = refine(old, 3, "label", labelled, directed)
    both = refine(_join([old, new]), 3, "label", labelled, directed)
    found = assign(fitted, new)
    for t in range(4):
        together_old, together_new = np.split(both.colours[t], [old.num_nodes])
        number = dict(zip(together_old.tolist(), fitted.colours[t].tolist(), strict=True))
        assert found.colours[t].tolist() == [number.get(colour, -1) for colour in together_new.tolist()]
    left = [next((t for t in range(4) if found.colours[t][v] < 0), 4) for v in range(new.num_nodes)]
    assert found.left_at.tolist() == left


def test_unseen_edge_labels_leave_the_tree() -> None:
    path = nx.path_graph(3)
    nx.set_edge_attributes(path, 1, "label")
    fitted = refine(path, 2, edge_labels=True)
    path.edges[0, 1]["label"] = 2
    assert assign(fitted, path).left_at.tolist() == [1, 1, 2]


def test_unseen_directions_leave_the_tree() -> None:
    fitted = refine(nx.DiGraph([(0, 1), (1, 2)]), 1, directed=True)
    assert assign(fitted, nx.DiGraph([(0, 1), (2, 1)])).left_at.tolist() == [2, 1, 2]


def test_unseen_start_leaves_at_depth_0() -> None:
    assert assign(refine(nx.path_graph(3), 1, "degree"), nx.star_graph(4)).left_at.tolist() == [0, 1, 1, 1, 1]


def test_given_arrays_are_asked_for_again() -> None:
    with_x = nx.path_graph(3)
    nx.set_node_attributes(with_x, {v: [5.0] for v in with_x}, "x")
    fitted = refine(with_x, 1, np.array([[0.0], [1.0], [0.0]]))
    with pytest.raises(InputError, match="the fit was given an array"):
        assign(fitted, with_x)
    assert assign(fitted, nx.path_graph(2), np.array([[-0.0], [1.0]])).colours[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("initial", "sentence"),
    [
        (np.array([[0.0, 1.0]] * 3), "must be numbers, 1 in a row as in the fit, found numbers, 2 in a row"),
        (np.array([["0"]] * 3), "must be numbers, 1 in a row as in the fit, found text"),
        (np.array([[np.nan]] * 3), "row 0, column 0: expected a number"),
        (np.array([[0.0]]), "expected 3 labels or rows"),
        (3, "expected 3 labels or rows"),
    ],
)
def test_new_rows_are_like_the_fitted_ones(initial: object, sentence: str) -> None:
    fitted = refine(nx.path_graph(3), 1, np.array([[0.0], [1.0], [0.0]]))
    with pytest.raises(InputError, match=sentence):
        assign(fitted, nx.path_graph(3), initial)


def test_new_graphs_need_what_the_fit_used() -> None:
    labelled = nx.path_graph(3)
    nx.set_node_attributes(labelled, 1, "label")
    with pytest.raises(InputError, match="no node labels"):
        assign(refine(labelled, 1, "label"), as_graphs(nx.path_graph(2)))


@pytest.mark.parametrize("size", [3, 1000])
def test_rows_are_found_by_value_whatever_their_type_and_number(size: int) -> None:
    known, tables = np.array([[-1.5, 0.0], [0.0, 2.0], [3.0, 3.0]]), dict[tuple[str, str], Table]()
    rows = np.resize(np.array([[3, 3], [0, 2], [7, 7]]), (size, 2))
    for kind in (np.float64, np.float32, np.int64, np.longdouble):
        found = look_up("rows", rows.astype(kind), known, size, tables)
        assert np.array_equal(found, np.resize([2, 1, -1], size))
    zeros = np.resize(np.array([[-0.0, 2.0], [0.0, 2.0]]), (size, 2))
    assert look_up("rows", zeros, known, size, tables).tolist() == [1] * size


@pytest.mark.parametrize("size", [3, 1000])
def test_long_floats_are_found_whatever_pads_them(size: int) -> None:
    long = np.frombuffer(bytes(range(1, 1 + np.dtype(np.longdouble).itemsize)) * size * 2, np.longdouble).copy()
    long[:] = np.resize([0.1, 2.0, -0.0, 2.0], 2 * size)
    initial = long.reshape(size, 2)
    initial[1] += np.finfo(np.longdouble).eps  # which float64 may not tell apart
    fitted = refine(nx.path_graph(size), 0, initial)
    for again in (initial, np.array(initial.tolist(), np.longdouble), initial.astype(float).astype(np.longdouble)):
        found = assign(fitted, nx.path_graph(size), again).colours[0]
        same = (again == initial).all(axis=1)
        assert np.array_equal(found[same], fitted.colours[0][same])


def test_text_is_found_whatever_its_width() -> None:
    known, tables = np.array(["C", "Cl", "N"]), dict[tuple[str, str], Table]()
    assert look_up("labels", np.array(["N", "C"]), known, 2, tables).tolist() == [2, 0]
    assert look_up("labels", np.array(["Cl", "bromine"]), known, 2, tables).tolist() == [1, -1]
    assert look_up("labels", np.array([b"Cl", b"C"]), known, 2, tables).tolist() == [1, 0]
    assert len(tables) == 1


def test_rows_of_text_are_found_whatever_their_width() -> None:
    known = np.array([["C", "ring"], ["N", "ring"]])
    assert look_up("rows", np.array([["N", "ring"], ["C", "aromatic"]]), known, 2).tolist() == [1, -1]
