"""Jobs and evaluations: the same numbers whatever --jobs is, and after real kills; failures are kept, and fail."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from running import HANGS, start, wait_until, wlhn
from tiny import tiny, write_tu

from wlhn.batching import refined
from wlhn.data import load
from wlhn.errors import BusyError, InputError
from wlhn.evaluation import jobs
from wlhn.evaluation.comparison import compare
from wlhn.evaluation.evaluate import Evaluation
from wlhn.evaluation.grids import FOLDER, Grid, grid_document, read_grid
from wlhn.evaluation.jobs import Job, JobResult
from wlhn.evaluation.outcome import Outcome, SplitOutcome, Visited, Work, read_outcome
from wlhn.evaluation.plan import Plan
from wlhn.evaluation.progress import Progress
from wlhn.evaluation.protocols import PROTOCOLS, ten_fold
from wlhn.files import DRAFT, LOCK, only_writer
from wlhn.models import WLHN
from wlhn.options.option import option
from wlhn.training.problem import Problem
from wlhn.training.settings import Settings

SMALL = {"hidden_channels": 8, "num_layers": 2, "batch_size": 16}


def numbers(outcome: Outcome | dict[str, Any]) -> dict[str, Any]:
    """An outcome without what may differ: time, and the version, where somebody works on the code meanwhile."""
    document = outcome.to_json() if isinstance(outcome, Outcome) else outcome
    return {key: value for key, value in document.items() if key not in ("seconds", "version")}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tu(tmp_path_factory.mktemp("data"), tiny(60))


def at_work(out: Path, results: int) -> bool:
    """Whether so many jobs are done and another has passed an epoch."""
    folder = out / "jobs"
    return len(list(folder.glob("[!.]*.json"))) >= results and any(folder.glob(".*.checkpoint"))


def test_numbers_do_not_depend_on_jobs_nor_on_kills(data: Path, tmp_path: Path) -> None:
    """Two workers, killed in the middle of jobs, then interrupted with Ctrl-C; then one process to the end."""
    grid = tmp_path / "grid.json"
    settings = SMALL | {"epochs": 20, "dropout": 0.5}  # jobs long enough to be met in their middle
    grid.write_text(json.dumps({"settings": settings, "grid": {"learning_rate": [0.01, 0.001]}}))
    command = ["evaluate", str(data), "--grid", str(grid), "--final-runs", "1", "--splits", "4", "--json", "--out"]
    wanted, torn = wlhn(*command, tmp_path / "whole"), tmp_path / "torn"
    assert wanted.code == 0, wanted.err
    for results, sign, code in ((1, signal.SIGKILL, -9), (4, signal.SIGINT, 130)):  # of 12
        with start(*command, str(torn), "--jobs", "2") as process:
            wait_until(partial(at_work, torn, results), process)
            process.send_signal(sign)  # the parent alone: workers must leave with it
            _, errors = process.communicate(timeout=HANGS)  # ends only when the last of them has closed the pipe
            assert process.returncode == code, errors
            assert "Traceback" not in errors
    assert 4 <= len(list((torn / "jobs").glob("[!.]*.json"))) < 12
    found = wlhn(*command, torn)
    assert found.code == 0, found.err
    assert numbers(json.loads(found.out)) == numbers(json.loads(wanted.out))
    assert len(json.loads(found.out)["splits"]) == 4


def run(data: Path, out: Path, **given: Any) -> Outcome:
    candidates = given.pop("candidates", [Settings.of(**SMALL, epochs=3)])
    options = {"protocol": "ten-fold", "grid": "test", "final_runs": 1} | given
    return Evaluation(load(data), candidates, out, **options).run()


def test_a_failed_job_fails_the_table_and_is_retried_on_demand(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = jobs.run_job

    def broken(job: Job, *rest: Any) -> JobResult:
        if job.split == 3:
            raise RuntimeError("the moon was full")
        return real(job, *rest)

    monkeypatch.setattr(jobs, "run_job", broken)
    with pytest.raises(InputError, match="1 of 10 jobs failed, the first because RuntimeError: the moon was full"):
        run(data, tmp_path)
    assert len(list((tmp_path / "jobs").glob("*.json"))) == 9
    (error,) = (tmp_path / "jobs").glob("*.error.txt")
    assert "Traceback" in error.read_text()
    assert not (tmp_path / "evaluation.json").exists()
    monkeypatch.setattr(jobs, "run_job", real)
    with pytest.raises(InputError, match="failed"):
        run(data, tmp_path)  # not on its own
    outcome = run(data, tmp_path, retry_failed=True)
    assert not list((tmp_path / "jobs").glob("*.error.txt"))
    assert numbers(run(data, tmp_path / "whole")) == numbers(outcome)


def test_a_full_disk_is_no_failure_of_a_job(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = jobs.run_job

    def full(job: Job, *rest: Any) -> JobResult:
        if job.split == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "here")
        return real(job, *rest)

    monkeypatch.setattr(jobs, "run_job", full)
    with pytest.raises(OSError, match="No space left on device: 'here'"):
        run(data, tmp_path)
    assert not list((tmp_path / "jobs").glob("*.error.txt"))
    monkeypatch.setattr(jobs, "run_job", real)
    assert numbers(run(data, tmp_path)) == numbers(run(data, tmp_path / "whole"))  # the same call goes on


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "has no field 'job'; remove the file to run the job again"),
        ("{", "is damaged, not JSON.*; remove the file to run the job again"),
    ],
)
def test_a_result_that_is_none_is_named(text: str, message: str, data: Path, tmp_path: Path) -> None:
    run(data, tmp_path)
    (tmp_path / "evaluation.json").unlink()  # with it, its jobs would not be looked at
    some = next((tmp_path / "jobs").glob("*.json"))
    some.write_text(text)
    with pytest.raises(InputError, match=f"{some.name}: {message}"):
        run(data, tmp_path)
    some.unlink()
    assert numbers(run(data, tmp_path)) == numbers(run(data, tmp_path / "whole"))


def test_selection_sees_no_test_items(data: Path, tmp_path: Path) -> None:
    """Flipped test labels, fold by fold: the same settings are chosen on the same validation scores."""
    dataset = load(data)
    candidates = [Settings.of(**SMALL, epochs=4, learning_rate=rate) for rate in (0.01, 0.0001)]
    outcome = run(data, tmp_path / "as it is", candidates=candidates)
    selection = list((tmp_path / "as it is" / "jobs").glob("select-*.json"))
    assert len(selection) == 20
    assert all(json.loads(path.read_bytes())["test"] is None for path in selection)
    for k, split in enumerate(ten_fold(dataset, seed=0)[:2]):
        y = dataset.y.copy()
        y[split.test] = 1 - y[split.test]
        flipped = replace(dataset, y=y, splits=(split,))
        # One split, given as published.
        found = Evaluation(flipped, candidates, tmp_path / f"fold {k}", protocol="fixed-splits", final_runs=1).run()
        assert found.splits[0].settings == outcome.splits[k].settings
        assert found.splits[0].valid == outcome.splits[k].valid
        total = found.splits[0].test_scores[0] + outcome.splits[k].test_scores[0]
        assert total == pytest.approx(1)


def test_test_items_are_predicted_once(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, predicted = Problem.outputs, []

    def outputs(self: Problem, model: Any, items: Any) -> Any:
        predicted.append(len(items))
        return real(self, model, items)

    monkeypatch.setattr(Problem, "outputs", outputs)
    outcome = run(data, tmp_path, num_splits=2)
    assert predicted == [split.test for split in outcome.splits]
    for split in outcome.splits:
        assert split.scores is not None
        assert [scores.metrics["accuracy"] for scores in split.scores] == list(split.test_scores)


def test_less_than_a_folder_has_leaves_it_as_it_is(data: Path, tmp_path: Path) -> None:
    whole = run(data, tmp_path, final_runs=2)
    shutil.rmtree(tmp_path / "jobs")
    assert run(data, tmp_path, num_splits=1, final_runs=1) == whole == read_outcome(tmp_path)
    assert not (tmp_path / "jobs").exists()
    assert len(run(data, tmp_path / "one", num_splits=1).splits) == 1


def test_an_outcome_grows_without_its_jobs(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository keeps outcomes alone: further final runs and splits are what is done, and nothing else."""
    candidates = [Settings.of(**SMALL, epochs=epochs) for epochs in (2, 3)]
    whole = run(data, tmp_path / "whole", candidates=candidates, num_splits=3, final_runs=2)
    run(data, tmp_path / "grown", candidates=candidates, num_splits=2, final_runs=1)
    done: list[Job] = []
    real = jobs.run_job
    monkeypatch.setattr(jobs, "run_job", lambda job, *rest: done.append(job) or real(job, *rest))
    for splits, runs, further in ((2, 2, 2), (3, 2, 4)):  # two final runs; then two trials and two final runs
        shutil.rmtree(tmp_path / "grown" / "jobs")
        done.clear()
        grown = run(data, tmp_path / "grown", candidates=candidates, num_splits=splits, final_runs=runs)
        assert len(done) == further
        assert grown == read_outcome(tmp_path / "grown")
    assert numbers(grown) == numbers(whole)


def test_the_announced_total_counts_final_runs_of_old_splits_too(data: Path, tmp_path: Path) -> None:
    candidates = [Settings.of(**SMALL, epochs=epochs) for epochs in (2, 3)]
    heard: list[Progress] = []
    run(data, tmp_path, candidates=candidates, num_splits=2, final_runs=1)
    run(data, tmp_path, candidates=candidates, num_splits=3, final_runs=2, on_progress=heard.append)
    assert {each.after for each in heard if each.phase == "selection"} == {4}  # two of the new split, one of each old
    assert {each.total for each in heard if each.phase == "final runs"} == {4}
    heard.clear()
    asked = Evaluation(load(data), candidates, tmp_path / "compared", num_splits=1, on_progress=heard.append)
    asked.compare_candidates()
    assert {each.after for each in heard} == {0}


def test_voices_of_other_names_are_refused(data: Path, tmp_path: Path) -> None:
    run(data, tmp_path, num_splits=1, final_runs=2)
    path = tmp_path / "evaluation.json"
    outcome = json.loads(path.read_text())
    outcome["splits"][0]["voices"] = [{"a": 1.0}, {"a": 0.5}]
    path.write_text(json.dumps(outcome))
    assert read_outcome(tmp_path).voices == {"a": 0.75}
    outcome["splits"][0]["voices"] = [{"a": 1}, {}]
    path.write_text(json.dumps(outcome))
    with pytest.raises(InputError, match=r"evaluation.json, splits: voices must have the same names in every run"):
        read_outcome(tmp_path)


def test_a_folder_keeps_to_its_plan(data: Path, tmp_path: Path) -> None:
    outcome = run(data, tmp_path)
    with pytest.raises(InputError, match="holds an evaluation with other candidates"):
        run(data, tmp_path, candidates=[Settings.of(**SMALL, epochs=4)])
    assert read_outcome(tmp_path) == outcome
    (tmp_path / "evaluation.json").write_text("{")
    with pytest.raises(InputError, match="damaged"):
        read_outcome(tmp_path)


def test_ogb_is_scored_by_its_own_evaluator(tmp_path: Path) -> None:
    data = tiny(60)
    (split, *_) = ten_fold(data, 0)
    y = data.y[:, None].astype(np.float32)
    molecules = replace(data, name="ogbg-molhiv", y=y, task="binary", classes=(), targets=("active",), splits=(split,))
    with pytest.raises(InputError, match="metric ap: the protocol ogb scores test items its own way"):
        Evaluation(molecules, [Settings.of(**SMALL, metric="ap")], tmp_path, protocol="ogb")
    outcome = Evaluation(molecules, [Settings.of(**SMALL, epochs=3)], tmp_path, protocol="ogb").run()
    assert outcome.metric == "rocauc"
    assert len(outcome.splits[0].test_scores) == 10
    assert len(set(outcome.splits[0].seeds)) == 10
    assert outcome.std == pytest.approx(np.std(outcome.splits[0].test_scores))


@pytest.mark.parametrize("name", [n for n in PROTOCOLS.places if n != "ogb"])
def test_protocols_give_disjoint_parts(name: str) -> None:
    dataset = tiny(60)
    splits = PROTOCOLS[name].splits(replace(dataset, splits=tuple(ten_fold(dataset, 1))), 1)
    assert len(splits) == 10
    for split in splits:
        assert len(np.unique(np.concatenate([split.train, split.valid, split.test]))) == 60
    if name == "ten-fold":
        assert sorted(np.concatenate([split.test for split in splits])) == list(range(60))


def test_values_that_belong_together_stay_together(tmp_path: Path) -> None:
    grid = tmp_path / "grid.json"
    rates = [{"learning_rate": 0.01, "weight_decay": 0.005}, {"learning_rate": 0.001, "weight_decay": 0.0}]
    document = {
        "settings": {"epochs": 7},
        "grid": {"num_layers": [1, 2]},
        "together": [rates],
        "levels": {"node": {"settings": {"epochs": 8}, "models": {"gin": {"together": [rates[:1]]}}}},
        "featureless": {"grid": {"degree": ["log", "onehot"]}},
        "models": {"gcn": {"together": [[{"dropout": 0.0, "head": "linear"}, {"dropout": 0.5, "head": "euclidean"}]]}},
    }
    grid.write_text(json.dumps(document))

    def tried(model: str, level: Literal["graph", "node"], **more: Any) -> list[tuple[Any, ...]]:
        every = [settings.to_json() for settings in read_grid(str(grid), model, level, **more)]
        names = ("epochs", "num_layers", "learning_rate", "weight_decay", "degree")
        return [tuple(values[name] for name in names) for values in every]

    pairs = [(0.01, 0.005), (0.001, 0.0)]
    assert tried("wlhn", "graph") == [(7, layers, *pair, "auto") for layers in (1, 2) for pair in pairs]
    assert tried("gin", "node") == [(8, layers, *pairs[0], "auto") for layers in (1, 2)]
    assert {row[-1] for row in tried("wlhn", "graph", featureless=True)} == {"log", "onehot"}
    # What a later part says of other options comes on top.
    assert tried("gcn", "graph") == [row for row in tried("wlhn", "graph") for _ in range(2)]
    heads = {(each.options.dropout, each.options.head) for each in read_grid(str(grid), "gcn", "graph")}
    assert heads == {(0.0, "linear"), (0.5, "euclidean")}
    # What is given stands in place of the grid's, also where only one of two that belong together is.
    given = {"learning_rate": 0.5, "num_layers": 1}
    assert tried("wlhn", "graph", further=given) == [(7, 1, 0.5, decay, "auto") for decay in (0.005, 0.0)]


def test_a_grid_is_like_another_where_it_does_not_say_otherwise(tmp_path: Path) -> None:
    grid = tmp_path / "grid.json"
    grid.write_text(json.dumps({"like": "lean", "settings": {"epochs": 7}, "grid": {"dropout": [0.25]}}))
    lean = read_grid("lean", "gin", "graph", {"epochs": 7, "dropout": 0.25})
    assert read_grid(str(grid), "gin", "graph") == lean
    assert read_grid(str(grid), "wl-oa", "graph") == read_grid("lean", "wl-oa", "graph")
    # A later part may also fix what another varies, alone or together with others, or vary what another fixes.
    grid.write_text(json.dumps({"like": "lean", "settings": {"num_layers": 3}}))
    assert {settings.options.num_layers for settings in read_grid(str(grid), "gin", "graph")} == {3}
    grid.write_text(json.dumps({"like": "fair", "grid": {"learning_rate": [0.1, 0.2]}}))
    fair = [settings.training for settings in read_grid(str(grid), "gin", "node")]
    assert {each.learning_rate for each in fair} == {0.1, 0.2}
    assert {each.weight_decay for each in fair} == {0.005, 0.0}
    grid.write_text(json.dumps({"grid": {"num_layers": [2, 4]}, "levels": {"node": {"settings": {"num_layers": 1}}}}))
    assert [settings.options.num_layers for settings in read_grid(str(grid), "gin", "node")] == [1]
    grid.write_text(json.dumps({"like": "grid.json"}))
    with pytest.raises(InputError, match=r"like: must be defaults, fair, lean, paper or wide, found 'grid\.json'"):
        read_grid(str(grid), "gin", "graph")


def test_grids_say_what_they_are() -> None:
    for name in ("paper", "lean", "fair", "wide", "defaults"):
        assert grid_document(name).about != Grid.about
        assert grid_document(name).leaves_out != Grid.leaves_out
        for level in ("graph", "node"):
            assert len(set(read_grid(name, "wlhn", level))) == len(read_grid(name, "wlhn", level))
            assert {settings.model for settings in read_grid(name, "gin", level)} == {"gin"}
    with pytest.raises(InputError, match="is not one of defaults, fair, lean, paper, wide, and there is no such file"):
        read_grid("huge", "wlhn", "graph")


def test_the_grid_of_defaults_is_what_train_uses() -> None:
    for level in ("graph", "node"):
        assert read_grid("defaults", "gin", level) == [Settings.of("gin")]


@pytest.mark.parametrize("name", ["paper", "lean", "fair", "wide", "defaults"])
def test_our_grids_name_options_that_models_have(name: str) -> None:
    """Where one reads them they are not checked: that would import every model."""
    assert grid_document(str(FOLDER / f"{name}.json")) == grid_document(name)


def test_a_grid_imports_no_other_model() -> None:
    """PyG and scikit-learn take seconds, and WLHN does without them."""
    code = "from wlhn.evaluation.grids import read_grid; read_grid('lean', 'wlhn', 'graph')"
    check = "import sys; assert not {'torch_geometric', 'sklearn'} & sys.modules.keys()"
    assert subprocess.run([sys.executable, "-c", f"{code}; {check}"]).returncode == 0


def test_paired_tests_see_a_shift_and_no_difference() -> None:
    settings = Settings.of(**SMALL)

    def outcome(scores: Any, splits_hash: str = "h", metric: str = "accuracy") -> Outcome:
        plan = Plan("D", "d", "wlhn", "ten-fold", "test", (settings,), 0, splits_hash, None, 1)
        splits = tuple(SplitOutcome("s", 90, 10, settings, (0.5,), (float(score),), (1,)) for score in scores)
        return Outcome(plan, metric, splits, Visited(1, 0, 0, 0), 0.0, 0, Work(10, 1.0, "v"))

    random = np.random.default_rng(0)
    a = random.normal(0.8, 0.05, 10)
    clear = compare(outcome(a + 0.05 + random.normal(0, 0.01, 10)), outcome(a))
    assert clear.wilcoxon_p < 0.01
    assert clear.corrected_t_p < 0.01
    same = compare(outcome(a), outcome(a))
    assert (same.wilcoxon_p, same.corrected_t_p, same.difference) == (1, 1, 0)
    with pytest.raises(InputError, match="splits_hash is h here and g there"):
        compare(outcome(a), outcome(a, "g"))
    for metric, better in (("accuracy", 10), ("mse", 0)):  # a larger error is worse
        found = compare(outcome(a + 0.05, metric=metric), outcome(a, metric=metric))
        assert (found.better, found.worse) == (better, 10 - better)
    many = outcome(a[:1])
    runs = SplitOutcome("s", 90, 10, settings, (0.5,) * 10, tuple(a.tolist()), tuple(range(10)))
    many = replace(many, plan=replace(many.plan, final_runs=10), splits=(runs,))
    with pytest.raises(InputError, match="1 split × 10 runs here and 10 splits × 1 there"):
        compare(many, outcome(a))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_an_answer_that_is_no_number_is_a_failure_and_no_score(task: str, tmp_path: Path) -> None:
    data = tiny(60)
    (split, *_) = ten_fold(data, 0)
    x = np.ones((data.graphs.num_nodes, 1), np.float32)
    x[data.graphs.node_ptr[split.test[0]]] = 3e38
    data = replace(data, graphs=replace(data.graphs, x=x, node_label=None), inputs=("x",), splits=(split,))
    if task == "regression":
        data = replace(data, y=data.y.astype(np.float32), task="regression", classes=(), targets=("y",))
    settings = Settings.of("gin", hidden_channels=8, num_layers=2, epochs=1, standardise=False)
    with pytest.raises(InputError, match=f"graph {split.test[0]}: the model's answer is not a finite number"):
        Evaluation(data, [settings], tmp_path, protocol="fixed-splits", final_runs=1).run()


def test_outcomes_keep_what_they_say_on_disk(data: Path, tmp_path: Path) -> None:
    outcome = run(data, tmp_path, num_splits=2)
    assert read_outcome(tmp_path) == outcome
    document = outcome.to_json()
    assert "attention" not in document["splits"][0]["settings"]  # which is another model's
    assert not (tmp_path / "plan.json").exists()


def test_an_evaluation_refines_once_for_each_depth_and_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refined.forget_hierarchies()
    real, depths = refined.refine, []
    monkeypatch.setattr(
        refined, "refine", lambda graphs, depth, **given: depths.append(depth) or real(graphs, depth, **given)
    )
    candidates = [Settings.of(hidden_channels=4, num_layers=t, epochs=1, dropout=p) for t in (1, 2) for p in (0.0, 0.5)]
    Evaluation(tiny(60), candidates, tmp_path / "wlhn", final_runs=2).run()
    assert sorted(depths) == [1, 2]
    depths.clear()
    Evaluation(tiny(60), [Settings.of("mlp", hidden_channels=4, epochs=1)], tmp_path / "mlp", final_runs=1).run()
    assert not depths


def test_a_new_option_leaves_stored_outcomes_valid(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = run(data, tmp_path, num_splits=2)

    @dataclass(frozen=True)
    class MoreOptions(WLHN.Options):
        wings: int = option(2, "How many wings it has.", at_least=0)

    monkeypatch.setattr(WLHN, "Options", MoreOptions)
    shutil.rmtree(tmp_path / "jobs")
    assert read_outcome(tmp_path).splits[0].settings.options.wings == 2
    again = run(data, tmp_path, num_splits=2)  # the same plan: nothing is run
    assert again.mean == outcome.mean
    assert not (tmp_path / "jobs").exists()
    with pytest.raises(InputError, match="other candidates"):
        run(data, tmp_path, num_splits=2, candidates=[Settings.of(**SMALL, epochs=3, wings=3)])


def test_an_evaluation_has_one_writer_and_no_foreign_folder(data: Path, tmp_path: Path) -> None:
    with only_writer(tmp_path / "busy"), pytest.raises(BusyError, match="is writing here; wait for it"):
        run(data, tmp_path / "busy")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.tex").write_text("theirs")
    with pytest.raises(InputError, match="holds files that are not ours"):
        run(data, tmp_path / "foreign")
    assert [path.name for path in (tmp_path / "foreign").iterdir()] == ["thesis.tex"]


def test_what_a_killed_evaluation_left_is_removed(data: Path, tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    for name in (LOCK, f"{DRAFT}1-plan.json", f"jobs/{DRAFT}2-x.json"):
        (tmp_path / name).touch()
    run(data, tmp_path)
    assert not list(tmp_path.rglob(".*"))


def test_a_comparison_of_candidates_searches_for_none_and_ends_before_final_runs(tmp_path: Path) -> None:
    candidates = [Settings.of(**SMALL, epochs=1), Settings.of(**SMALL, epochs=2)]
    with pytest.raises(InputError, match="every candidate is tried, and there are no final runs"):
        Evaluation(tiny(60), candidates, tmp_path, search=1).compare_candidates()
