"""Doors to the outside: a package that pip installs adds a model, a data set and a protocol, and all of it works."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tiny import tiny

from wlhn.data import as_dataset, load, register_dataset
from wlhn.errors import InputError
from wlhn.estimators import GraphClassifier
from wlhn.evaluation.evaluate import Evaluation
from wlhn.evaluation.executor import Workers
from wlhn.models.gin import GIN
from wlhn.models.registry import MODELS
from wlhn.plugins import load_plugin
from wlhn.training.settings import Settings

PACKAGE = Path(__file__).parent / "wlhn_example"
HELPERS = Path(__file__).parents[1] / "helpers"
COMMANDS = """
import json, sys
from running import wlhn
for arguments in json.loads(sys.argv[1]):
    ran = wlhn(*arguments)
    if ran.code:
        sys.exit(ran.err)
    print(json.dumps(ran.out))
"""
SMALL = ["--hidden-channels", "8", "--epochs", "3"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has put the package; our own environment stays as it is."""
    folder = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--target", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(PACKAGE)], check=True)
    return folder


def python(installed: Path, program: str, *arguments: str) -> str:
    """What a program says in a process that finds the package."""
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": path, "WLHN_DATA": ""}
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(installed: Path, *commands: tuple[object, ...]) -> list[str]:
    """What each of some commands says, one after the other in one process: most of a short one is its start."""
    given = json.dumps([list(map(str, arguments)) for arguments in commands])
    program = f"import sys; sys.path.append({str(HELPERS)!r}){COMMANDS}"
    return [json.loads(line) for line in python(installed, program, given).splitlines()]


def test_train_and_predict(installed: Path, tmp_path: Path) -> None:
    given = ("--model", "mean-features", "--set", "power=2", *SMALL, "--out", tmp_path / "run", "--json")
    trained, _, told = run(
        installed,
        ("train", "wheels-and-stars", *given),
        ("predict", tmp_path / "run", "wheels-and-stars", "--out", tmp_path / "out.csv"),
        ("models", "mean-features"),
    )
    about = json.loads(trained)
    assert about["settings"]["power"] == 2.0
    assert about["data"] == "wheels-and-stars"
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 41
    assert "power" in told


def test_evaluate_by_processes_and_by_ray_gives_the_same(installed: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs ray")
    grid = tmp_path / "grid.json"
    grid.write_text(json.dumps({"settings": {"hidden_channels": 8, "epochs": 3}, "grid": {"power": [1, 2]}}))
    given = ("wheels-and-stars", "--model", "mean-features", "--protocol", "halves", "--grid", grid, "--json", "--out")
    workers = {"here": (), "processes": ("--jobs", 2), "ray": ("--executor", "ray", "--address", "local")}
    said = run(installed, *(("evaluate", *given, tmp_path / name, *who) for name, who in workers.items()))
    outcomes = [{key: value for key, value in json.loads(one).items() if key != "seconds"} for one in said]
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert len(outcomes[0]["splits"][0]["test_scores"]) == 2


def test_a_table_of_ones_own(installed: Path, tmp_path: Path) -> None:
    table = {
        "title": "Mine",
        "protocol": "halves",
        "columns": [{"key": "wheels-and-stars"}],
        "rows": [
            {"model": "mean-features", "name": "Means", "settings": {"power": 2.0}},
            {"model": "gin", "name": "GIN", "paper": {"wheels-and-stars": [99.0, 1.0]}},
        ],
    }
    (tmp_path / "my-table.json").write_text(json.dumps(table))
    grid = tmp_path / "grid.json"
    grid.write_text(json.dumps({"settings": {"hidden_channels": 8, "epochs": 3}}))
    mine, page = tmp_path / "my-table.json", tmp_path / "RESULTS.md"
    run(
        installed,
        ("reproduce", mine, "--grid", grid, "--out", tmp_path / "results"),
        ("report", tmp_path / "results", "--table", mine, "--out", page),
    )
    place = tmp_path / "results" / "my-table" / "wheels-and-stars"
    assert json.loads((place / "mean-features" / "evaluation.json").read_bytes())["candidates"][0]["power"] == 2.0
    assert "## Mine" in page.read_text()
    assert "99.0" in page.read_text()


def test_an_estimator_takes_it(installed: Path) -> None:
    program = """
from wlhn.data import load
from wlhn.estimators import GraphClassifier
data = load("wheels-and-stars")
fitted = GraphClassifier(model="mean-features", power=2.0, epochs=3).fit(data)
assert fitted.get_params()["power"] == 2.0
print(fitted.score(data, [data.classes[k] for k in data.y]))
"""
    assert 0 <= float(python(installed, program)) <= 1


class Renamed(GIN):
    """GIN, as an object of a script."""


def test_objects_of_a_script_work_without_a_name() -> None:
    data = tiny(30)
    classifier = GraphClassifier(model=Renamed, hidden_channels=4, epochs=2).fit(data)
    assert classifier.get_params()["model"] is Renamed
    assert type(classifier.trained_.model) is Renamed


def test_data_in_memory_and_a_registered_model_are_evaluated_by_processes(tmp_path: Path) -> None:
    candidates = [Settings.of(Renamed, hidden_channels=4, epochs=2)]
    given = {"final_runs": 1, "num_splits": 1}  # one job, for which one of two processes is started
    outcomes = [
        Evaluation(tiny(40), candidates, tmp_path / str(n), workers=Workers(processes=n), **given).run() for n in (1, 2)
    ]
    assert outcomes[0].splits == outcomes[1].splits


def test_a_plugin_file_travels_to_workers(tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text(
        "from wlhn.models.gin import GIN\n"
        "from wlhn.models.registry import register_model\n"
        "@register_model('plugged-gin')\n"
        "class Plugged(GIN):\n    'GIN from a file.'\n"
    )
    load_plugin(plugin)
    load_plugin(plugin)  # a second time changes nothing
    settings = [Settings.of("plugged-gin", hidden_channels=4, epochs=1)]
    outcome = Evaluation(
        tiny(40), settings, tmp_path / "out", final_runs=1, num_splits=1, workers=Workers(processes=2)
    ).run()
    assert outcome.plan.model == "plugged-gin"


@pytest.mark.parametrize("first", ["", "from __future__ import annotations\n"])
def test_a_plugin_file_declares_options_as_a_module_does(first: str, tmp_path: Path) -> None:
    name = f"tasting-{len(first)}"
    (tmp_path / f"{name}.py").write_text(
        first + "from dataclasses import dataclass\n"
        "from typing import Literal\n"
        "from wlhn.models.gin import GIN\n"
        "from wlhn.models.registry import register_model\n"
        "from wlhn.options.option import option\n"
        "@dataclass(frozen=True)\n"
        "class TastingOptions(GIN.Options):\n"
        "    taste: Literal['sweet', 'sour'] = option('sour', 'How it tastes.')\n"
        f"@register_model('{name}')\n"
        "class Tasting(GIN):\n"
        "    'GIN with a taste.'\n"
        "    Options = TastingOptions\n"
    )
    load_plugin(tmp_path / f"{name}.py")
    assert Settings.of(name, taste="sweet").to_json()["taste"] == "sweet"
    with pytest.raises(InputError, match="taste: must be sweet or sour, found 'bitter'"):
        Settings.of(name, taste="bitter")


@pytest.mark.parametrize(
    ("source", "message"),
    [("1 / 0", "failed with ZeroDivisionError"), ("import nowhere_at_all", "failed with ModuleNotFoundError")],
)
def test_a_plugin_that_fails_is_named(source: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(source)
    with pytest.raises(InputError, match=message):
        load_plugin(tmp_path / "bad.py")


def test_names_of_ours_cannot_be_taken_and_functions_must_give_data() -> None:
    with pytest.raises(InputError, match="'gin' is one of wlhn's own; choose another name"):
        MODELS.register("gin", Renamed)

    @register_dataset("nothing-at-all")
    def nothing(seed: int) -> Any:
        return seed

    with pytest.raises(InputError, match=r"its function must give a wlhn\.data\.Dataset, not int"):
        load("nothing-at-all")
    assert as_dataset(tiny(4).graphs, [0, 1, 0, 1]).name
