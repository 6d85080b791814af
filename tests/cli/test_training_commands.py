"""train, predict, embed and evaluate as a user meets them: files, ids, words, and errors in one line."""

import csv
import json
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from running import wlhn as run_command
from tiny import tiny, write_tu

from wlhn.cli.common.options import typer
from wlhn.cli.train import train as train_command
from wlhn.evaluation.grids import read_grid
from wlhn.models.registry import MODELS
from wlhn.options.network import NetworkOptions
from wlhn.options.training import TrainingOptions

FAST = ["--epochs", "3", "--hidden-channels", "8", "--num-layers", "2"]


@pytest.fixture
def wlhn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The command in a folder and with a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WLHN_CACHE", str(tmp_path / "cache"))
    return run_command


def write_molecules(path: Path) -> Path:
    """A user's table of molecules with names of their own."""
    chains = [("C" * (k % 7 + 1) + ("O" if k % 2 else "N"), "yes" if k % 2 else "no") for k in range(40)]
    rows = [f"mol-{k},{smiles},{label}" for k, (smiles, label) in enumerate(chains)]
    path.write_text("\n".join(["name,smiles,active", *rows]) + "\n")
    return path


def test_a_newcomers_way_from_data_to_predictions(wlhn: Any, tmp_path: Path) -> None:
    data = write_molecules(tmp_path / "molecules.csv")
    code, text, error = wlhn("train", data, *FAST, "--role", "name=id", "--role", "active=target")
    assert code == 0, error
    assert "Test accuracy" in text
    run = Path("runs/molecules-wlhn-1")
    assert f"wlhn predict {run}" in text
    assert "validation accuracy" in (run / "learning-curve.svg").read_text()
    assert len((run / "metrics.jsonl").read_text().splitlines()) == 3
    assert wlhn("train", data, *FAST, "--role", "name=id", "--role", "active=target", "--json")[0] == 0
    assert (Path("runs") / "molecules-wlhn-2" / "checksums.json").exists()

    new = tmp_path / "new.csv"
    new.write_text("name,smiles\nx1,CCO\nx2,CCBr\n")
    for ending in ("csv", "jsonl", "parquet"):
        code, text, error = wlhn("predict", run, new, "--out", f"said.{ending}", "--json")
        assert code == 0, error
        assert json.loads(text)["unseen"]["nodes"] >= 1  # Br
    rows = list(csv.DictReader(Path("said.csv").read_text().splitlines()))
    assert [row["id"] for row in rows] == ["x1", "x2"]
    assert float(rows[0]["p(no)"]) + float(rows[0]["p(yes)"]) == pytest.approx(1)
    lines = [json.loads(line) for line in Path("said.jsonl").read_text().splitlines()]
    assert [line["prediction"] for line in lines] == [row["prediction"] for row in rows]
    assert pd.read_parquet("said.parquet")["p(yes)"].tolist() == [line["p(yes)"] for line in lines]

    code, text, error = wlhn("embed", run, new, "--out", "points.npz", "--json")
    assert code == 0, error
    with np.load("points.npz") as points:
        assert points["node_ball"].shape == (6, 3, 8)
        length = np.linalg.norm(points["node_ball"], axis=-1)
        np.testing.assert_allclose(np.linalg.norm(points["node_tangent"], axis=-1), np.arctanh(length), rtol=1e-3)
        for g, vector in enumerate(points["graph_vector"]):
            total = points["node_tangent"][points["graph_of_node"] == g, -1].sum(axis=0)
            np.testing.assert_allclose(vector, total, rtol=1e-4, atol=1e-5)
        assert points["graph_id"].tolist() == ["x1", "x2"]


def test_nodes_are_trained_on_and_named(wlhn: Any) -> None:
    code, text, error = wlhn("train", "karate", *FAST, "--model", "gin", "--out", "club", "--json")
    assert code == 0, error
    assert json.loads(text)["split"] == {"train": 20, "valid": 7, "test": 7}
    assert wlhn("predict", "club", "karate", "--out", "club.csv")[0] == 0
    assert len(Path("club.csv").read_text().splitlines()) == 35


def test_the_demo_is_worth_showing(wlhn: Any) -> None:
    """`wlhn train` as it is: built-in MUTAG, far better than the commonest class, and soon done."""
    started = time.process_time()
    about = json.loads(wlhn("train", "--json").out)
    assert time.process_time() - started < 60  # of this process, whatever else the machine does
    assert about["scores"]["test"] >= 0.8
    assert about["scores"]["constant_answer"] < 0.7
    assert about["numerics"]["first_nan"] is None


def test_nodes_are_evaluated_on_random_splits(wlhn: Any, tmp_path: Path) -> None:
    grid = tmp_path / "grid.json"
    grid.write_text(json.dumps({"settings": {"epochs": 2, "hidden_channels": 8, "num_layers": 1}}))
    ran = wlhn("evaluate", "karate", "--protocol", "random-splits", "--grid", grid, "--out", "club", "--json")
    assert ran.code == 0, ran.err
    assert [split["test"] for split in json.loads(ran.out)["splits"]] == [7] * 10


def test_evaluate_compares(wlhn: Any, tmp_path: Path) -> None:
    data, grid = write_tu(tmp_path, tiny(40)), tmp_path / "grid.json"
    grid.write_text(json.dumps({"settings": {"epochs": 2, "hidden_channels": 8, "num_layers": 1}}))
    common = ["evaluate", data, "--grid", grid, "--final-runs", "1"]
    assert wlhn(*common, "--model", "gin", "--out", "gin")[0] == 0
    code, text, error = wlhn(*common, "--out", "wlhn", "--compare", "gin")
    assert code == 0, error
    assert "Against gin" in text
    assert "Wilcoxon" in text
    document = json.loads(wlhn(*common, "--out", "wlhn", "--compare", "gin", "--json")[1])
    assert len(document["splits"]) == 10
    assert {"mean", "std", "splits_hash", "data_hash", "version", "seconds", "seed"} <= set(document)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "nowhere"], "neither a known data set nor a path"),
        (["train", "--model", "gnn"], "model 'gnn' is not known; known are wlhn"),
        (["train", "--model", "gin", "--set", "tau=2"], "gin has no option 'tau'"),
        (["train", "--model", "wl-svm", "--dropout", "0.5"], "wl-svm has no option 'dropout'"),
        (["train", "--model", "mixhop", "--set", "hops=far"], "hops: must be a whole number, found 'far'"),
        (["train", "--model", "gat", "--set", "attention_heads=0"], "attention_heads: must be 1 or more, found 0"),
        (["train", "--model", "wlhn", "--set", "learn_tau=1"], "learn_tau: must be true or false, found '1'"),
        (["train", "--set", "taus=3"], "wlhn has no option 'taus'; did you mean tau?"),
        (["train", "--set", "tau"], "--set 'tau': write NAME=VALUE"),
        (["train", "--dropout", "0.1", "--set", "dropout=0.2"], "dropout: given by --dropout and by --set"),
        (["evaluate", "MUTAG", "--out", "x", "--set", "hops=3"], "wlhn has no option 'hops'"),
        (["evaluate", "MUTAG", "--out", "x", "--set", "model=gin"], "wlhn has no option 'model'"),
        (["train", "--dropout", "2"], "dropout: must be below 1, found 2.0"),
        (["train", "--optimizer", "sgd"], "optimizer: must be adam or riemannian-adam"),
        (["train", "--plugin", "nowhere.py"], "nowhere.py: cannot be read"),
        (["train", "--split", "70"], "--split 70"),
        (["train", "--edge-features", "karate"], "neither labels nor features"),
        (["predict", "nowhere", "MUTAG", "--out", "x.csv"], "no finished run here"),
        (["embed", "nowhere", "MUTAG", "--out", "x.npz"], "no finished run here"),
        (["embed", "nowhere", "MUTAG", "--out", "x.npz", "--tau", "2"], "tau: the run in nowhere has its own"),
        (
            ["evaluate", "MUTAG", "--out", "o", "--protocol", "guess"],
            "protocol 'guess' is not known; known are ",
        ),
        (
            ["evaluate", "MUTAG", "--out", "o", "--grid", "huge"],
            "--grid huge: is not one of defaults, fair, lean, paper, wide",
        ),
        (
            ["evaluate", "karate", "--out", "o", "--protocol", "fixed-splits"],
            "came without splits; choose another",
        ),
        (["evaluate", "MUTAG", "--out", "o", "--compare", "none"], "none: no such file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_options_end_with_one_sentence(wlhn: Any, arguments: list[str], message: str, tmp_path: Path) -> None:
    code, text, error = wlhn(*arguments)
    assert code == 2
    assert message in error
    assert error.count("\n") == 1
    assert not text or "Graphs(" in text
    assert not (tmp_path / "x.csv").exists()


def test_an_output_of_unknown_kind_is_refused_before_anything_is_written(wlhn: Any) -> None:
    assert wlhn("train", "karate", *FAST, "--out", "club")[0] == 0
    for command, name in (("predict", "out.xml"), ("embed", "out.csv")):
        code, _, error = wlhn(command, "club", "karate", "--out", name)
        assert (code, Path(name).exists()) == (2, False)
        assert "the name must end in" in error


def test_help_shows_every_option_of_networks_with_its_default_and_its_sentence() -> None:
    parameters = typer.main.get_params_from_function(train_command)
    for each in (*fields(NetworkOptions), *fields(TrainingOptions)):
        flag = parameters[each.name].default
        assert flag.show_default == str(each.default)
        assert flag.help.startswith(each.metadata["about"])


def test_models_lists_all_of_them_and_what_each_can_be_told(wlhn: Any) -> None:
    rows = json.loads(wlhn("models", "--json")[1])
    assert [row["model"] for row in rows] == list(MODELS.places)
    told = {each["name"]: each for each in json.loads(wlhn("models", "wlhn", "--json")[1])}
    assert (told["tau"]["default"], told["tau"]["values"]) == (1.0, "a number, above 0")
    assert told["epochs"]["default"] == 300
    assert "Length of the tree's edges" in wlhn("models", "wlhn")[1]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"epochs": [3], "hidden_channels": [8, 16]}, "'epochs' is not known here; a grid has the form"),
        ({"grid": {"tau": []}}, "a list in `grid` or `together` is empty; give values to try"),
        ({"grid": {"hiden_channels": [8, 16]}}, "no model has an option 'hiden_channels'"),
        ({"grid": {"epochs": 3}}, "grid, epochs: must be a list, found 3"),
        ({"models": {"gnn": {}}}, "models: must be wlhn, "),
        ({"together": [{"epochs": 3}]}, "together 0: must be a list, found {'epochs': 3}"),
        ({"featureless": {"together": [[{"epoch": 3}]]}}, "no model has an option 'epoch'"),
        ({"models": {"gin": {"levels": {"edge": {}}}}}, "models, gin, levels: must be graph or node, found 'edge'"),
        ({"levels": {"node": {"epochs": 3}}}, "'epochs' is not known here"),
        ([], "must be a JSON object, found list"),
        (
            {"grid": {name: list(range(1, 1001)) for name in ("epochs", "patience", "num_layers")}},
            "has 1,000,000,000 combinations, more than 100,000; try fewer values",
        ),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_a_grid_with_an_unknown_key_is_refused(wlhn: Any, document: Any, message: str, tmp_path: Path) -> None:
    (tmp_path / "grid.json").write_text(json.dumps(document))
    code, _, error = wlhn("evaluate", "MUTAG", "--grid", tmp_path / "grid.json", "--out", "x")
    assert code == 2
    assert message in error


def test_every_setting_can_be_given_and_is_kept(wlhn: Any) -> None:
    """By a flag, or by --set; a grid keeps to what is set."""
    code, text, error = wlhn(
        *("train", "--model", "hgcn-poincare", *FAST, "--out", "run", "--json"),
        *("--set", "curvature=0.5", "--set", "learn-curvature=False", "--set", "monitor=loss"),
    )
    assert code == 0, error
    kept = json.loads(Path("run/config.json").read_text())["settings"]
    assert (kept["curvature"], kept["learn_curvature"], kept["monitor"]) == (0.5, False, "loss")
    assert kept == json.loads(text)["settings"]
    free, bound = (read_grid("lean", "wlhn", "graph", given) for given in ({}, {"num_layers": 7, "tau": 2.0}))
    assert {(settings.options.num_layers, settings.options.tau) for settings in bound} == {(7, 2.0)}
    assert {settings.but({"num_layers": 7, "tau": 2.0}) for settings in free} == set(bound)


def test_ids_that_a_spreadsheet_would_run_are_quoted(wlhn: Any, tmp_path: Path) -> None:
    """In CSV alone; numbers are numbers, and --raw-ids leaves all as they are."""
    ids = ["=1+1", "+x", "-CCO", "@sum", "-1", "+2.5", "plain"]
    assert (
        wlhn("train", write_molecules(tmp_path / "molecules.csv"), *FAST, "--role", "name=id", "--out", "run")[0] == 0
    )
    new = tmp_path / "new.csv"
    new.write_text("name,smiles\n" + "".join(f"{name},CCO\n" for name in ids))
    for given, wanted in (((), ["'=1+1", "'+x", "'-CCO", "'@sum", "-1", "+2.5", "plain"]), (("--raw-ids",), ids)):
        ran = wlhn("predict", "run", new, "--out", "said.csv", *given)
        assert ran.code == 0, ran.err
        assert [row["id"] for row in csv.DictReader(Path("said.csv").read_text().splitlines())] == wanted
    assert wlhn("predict", "run", new, "--out", "said.jsonl")[0] == 0
    said = [str(json.loads(line)["id"]) for line in Path("said.jsonl").read_text().splitlines()]
    assert said == ids


@pytest.mark.parametrize("nodes", [3, 30])
def test_data_without_targets_get_their_error_alone(nodes: int, tmp_path: Path, wlhn: Any) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target\n" + "".join(f"n{k},n{k + 1}\n" for k in range(nodes)))
    told = wlhn("train", str(edges), "--out", str(tmp_path / "run"))
    assert told.code == 2
    assert not told.out
    assert "the data have no targets to train on" in told.err


def write_walks(folder: Path, kind: str) -> Path:
    """Classes that directions alone decide: ends of a star to or from its centre, as tables or as edge lists."""
    folder.mkdir()
    stars = [[(f"c{k}", f"e{k}{j}") if k % 2 else (f"e{k}{j}", f"c{k}") for j in range(3)] for k in range(20)]
    if kind == "tables":
        edges = [edge for star in stars for edge in star]
        nodes = [(f"c{k}", "") for k in range(20)] + [
            (f"e{k}{j}", ["no", "yes"][k % 2]) for k in range(20) for j in "012"
        ]
        (folder / "nodes.csv").write_text("id,reached\n" + "".join(f"{name},{y}\n" for name, y in nodes))
        (folder / "edges.csv").write_text("from,to\n" + "".join(f"{u},{v}\n" for u, v in edges))
        return folder
    for k, star in enumerate(stars):
        if kind == "edgelist":
            (folder / f"g{k}.edgelist").write_text("".join(f"{u} {v}\n" for u, v in star))
        else:
            nx.write_graphml(nx.Graph(star), folder / f"g{k}.graphml")
    (folder / "targets.csv").write_text("file,y\n" + "".join(f"g{k},{k % 2}\n" for k in range(20)))
    return folder


@pytest.mark.parametrize("kind", ["tables", "edgelist"])
def test_own_data_are_read_with_directions_by_a_model_that_tells_them_apart(
    wlhn: Any, tmp_path: Path, kind: str
) -> None:
    data = write_walks(tmp_path / "walks", kind)
    ran = wlhn("train", data, *FAST, "--epochs", "40", "--learning-rate", "0.05", "--directed", "--out", "run")
    assert ran.code == 0, ran.err
    assert "60 directed edges" in ran.out
    scored = json.loads(wlhn("score", "run", data, "--json").out)
    assert scored["metrics"]["accuracy"] == 1  # which no model reaches that sees edges both ways
    assert "The model was trained on some of these" in wlhn("score", "run", data).out  # so they were read the same way
    item = ["--node", "e00"] if kind == "tables" else ["--graph", "g0"]
    for command in (["explain", "run", data, *item], ["similar", "run", data, *item], ["explore", "run"]):
        ran = wlhn(*command)
        assert ran.code == 0, ran.err
    protocol = ["--protocol", "random-splits" if kind == "tables" else "ten-fold", "--splits", "1"]
    ran = wlhn("evaluate", data, "--grid", "defaults", *FAST, *protocol, "--directed", "--out", "result", "--json")
    assert ran.code == 0, ran.err


def test_graphs_that_are_undirected_by_their_format_have_no_directions_to_tell_apart(wlhn: Any, tmp_path: Path) -> None:
    ran = wlhn("train", write_walks(tmp_path / "walks", "graphml"), *FAST, "--directed", "--out", "run")
    assert ran.code == 2
    assert "walks: its graphs are undirected, every edge stands there in both directions" in ran.err
