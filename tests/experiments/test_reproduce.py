"""Reproducing and reporting: kills change nothing, parts are labelled, and each command makes its cell again."""

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from running import start, wait_until, wlhn

from wlhn.data.dataset import Dataset
from wlhn.data.load import load
from wlhn.errors import InputError, UnavailableError
from wlhn.experiments import cells, epochs, trees
from wlhn.experiments.catalogue import ITEMS, write_report
from wlhn.experiments.table import read_table

PLACE = Path("table-graphs/MUTAG")


def numbers(folder: Path) -> dict[str, Any]:
    """All outcomes in a folder of results without what may differ: time."""
    found = {}
    for path in sorted(folder.rglob("evaluation.json")):
        outcome = json.loads(path.read_bytes())
        found[str(path.relative_to(folder))] = {key: value for key, value in outcome.items() if key != "seconds"}
    return found


def run(out: Path, grid: Path, *more: str) -> None:
    ran = wlhn(*arguments(out, grid), *more)
    assert ran.code == 0, ran.err


def arguments(out: Path, grid: Path) -> list[str]:
    options = {"dataset": "MUTAG", "model": "wlhn", "grid": grid, "splits": 2, "final-runs": 1, "out": out, "jobs": 1}
    return ["reproduce", "table-graphs", *(str(x) for k, v in options.items() for x in (f"--{k}", v)), "--model", "gin"]


@pytest.fixture(scope="module")
def whole(grid: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two cells of table 3, two folds each."""
    folder = tmp_path_factory.mktemp("whole")
    run(folder, grid)
    return folder


def test_a_table_does_not_depend_on_kills(whole: Path, grid: Path, tmp_path: Path) -> None:
    """Killed in the second of two cells, started again: the same numbers, and the same report."""
    with start(*arguments(tmp_path, grid)) as process:
        wait_until(lambda: len(list(tmp_path.rglob("jobs/[!.]*.json"))) >= 7, process)  # of 6 in each cell
        process.kill()
    assert len(list(tmp_path.rglob("evaluation.json"))) == 1
    run(tmp_path, grid)
    assert len(numbers(tmp_path)) == 2
    assert numbers(tmp_path) == numbers(whole)
    reports = []
    for folder in (whole, tmp_path):
        write_report(folder, folder / "RESULTS.md")
        pages = [folder / "RESULTS.md", folder / "table-graphs" / "README.md"]
        reports.append([re.sub(r"\| [\d.]+ (s|min|h) \|", "| |", page.read_text()) for page in pages])
    assert reports[0] == reports[1]


def test_the_report_has_ours_the_papers_and_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    ran = wlhn("report", whole, "--out", tmp_path / "RESULTS.md")
    assert ran.code == 0, ran.err
    text, detail = (tmp_path / "RESULTS.md").read_text(), (whole / "table-graphs" / "README.md").read_text()
    write_report(whole, tmp_path / "again.md")
    assert (tmp_path / "again.md").read_text() == text
    assert (whole / "table-graphs" / "README.md").read_text() == detail
    outcome = json.loads((whole / PLACE / "gin" / "evaluation.json").read_bytes())
    mean, std = 100 * outcome["mean"], 100 * outcome["std"]
    row = next(line for line in detail.splitlines() if line.startswith("| GIN | "))
    assert row.startswith(f"| GIN | {mean:.1f} ± {std:.1f} | 84.7 ± 6.7 | {mean - 84.7:+.1f} | 2 × 1† | 2 of ")
    assert outcome["version"] in row
    assert "Not run: `dgcnn`, `diffpool`, " in detail
    assert "Not run at all: DD, NCI1, " in detail
    assert re.search(rf"\| GIN \| \[{mean:.1f}\]\(.*/table-graphs/README.md#mutag\) ± {std:.1f}†§? \(84.7\) \|", text)
    assert "Not run: DD, NCI1, " in text
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert len(set(headings)) == len(headings) == 1 + len(ITEMS)


def test_the_repositorys_report_is_that_of_its_results(tmp_path: Path) -> None:
    """RESULTS.md has nothing that was written by hand, and nothing that is out of date."""
    root = Path(__file__).parents[2]
    shutil.copytree(root / "results", tmp_path / "results")
    write_report(tmp_path / "results", tmp_path / "RESULTS.md")
    pages = ["RESULTS.md", *(str(page.relative_to(root)) for page in (root / "results").glob("*/README.md"))]
    for page in pages:
        assert (tmp_path / page).read_text() == (root / page).read_text(), page
    assert len((root / "RESULTS.md").read_text().splitlines()) <= 200


def test_the_printed_command_makes_the_cell_again(whole: Path, tmp_path: Path) -> None:
    write_report(whole, tmp_path / "RESULTS.md")
    report, detail = (tmp_path / "RESULTS.md").read_text(), (whole / "table-graphs" / "README.md").read_text()
    lines = re.findall(r"`(wlhn reproduce table-graphs --dataset .*?)`", detail)
    assert len(lines) == 2
    for line in lines:
        assert line.endswith(" --out again")
        ran = wlhn(*shlex.split(line)[1:-1], tmp_path)
        assert ran.code == 0, ran.err
        said = " ".join((ran.out + ran.err).split())
        assert ("folds drawn by seed" in said) == ("§" in report)  # and not in silence
    assert numbers(tmp_path) == numbers(whole)


def test_a_table_of_ones_own_is_made_again_by_its_command_and_checked_with_its_seed(tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    table = {"title": "Own", "about": "A test.", "protocol": "fixed-splits", "level": "node"}
    table |= {"columns": [{"key": "ER-effective-size-0.008"}], "rows": [{"name": "MLP", "model": "mlp"}]}
    own.write_text(json.dumps(table))
    given = ["reproduce", own, "--out", tmp_path / "first", "--splits", "1", "--seed", "1", "--grid", "defaults"]
    ran = wlhn(*given)
    assert ran.code == 0, ran.err
    checked = wlhn("reproduce", own, "--out", tmp_path / "first", "--check", "1")
    assert checked.code == 0, checked.out + checked.err
    write_report(tmp_path / "first", tmp_path / "RESULTS.md", [str(own)])
    (line,) = re.findall(
        r"`(wlhn reproduce \S+ --dataset .*?)`", (tmp_path / "first" / "own" / "README.md").read_text()
    )
    ran = wlhn(*shlex.split(line)[1:-1], tmp_path / "again")
    assert ran.code == 0, ran.err
    assert numbers(tmp_path / "again") == numbers(tmp_path / "first")


def test_each_kind_of_split_has_a_table_of_its_own(tmp_path: Path) -> None:
    own, data = tmp_path / "own.json", "ER-effective-size-0.008"
    kinds = [{"key": "fixed", "protocol": "fixed-splits"}, {"key": "random"}, {"key": "again"}]
    table = {"title": "Own", "about": "A test.", "protocol": "random-splits", "level": "node"}
    table |= {"columns": [{"data": data} | kind for kind in kinds], "rows": [{"name": "MLP", "model": "mlp"}]}
    table |= {"settings": {"epochs": 1}}
    own.write_text(json.dumps(table))
    ran = wlhn("reproduce", own, "--out", tmp_path, "--splits", "1", "--grid", "defaults")
    assert ran.code == 0, ran.err
    write_report(tmp_path, tmp_path / "RESULTS.md", [str(own)])
    text = (tmp_path / "RESULTS.md").read_text()
    assert re.findall(r"\| ours \(paper\) \| (.*) \|", text) == ["fixed", "random | again"]


def test_a_check_finds_a_result_that_comes_out_differently(whole: Path, grid: Path, tmp_path: Path) -> None:
    """Without jobs, as in a clone: all final runs are the same again; the least change of one is found, and named."""
    shutil.copytree(whole, tmp_path, ignore=shutil.ignore_patterns("jobs"), dirs_exist_ok=True)
    run(tmp_path, grid, "--final-runs", "2")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json")}
    command = ["reproduce", "table-graphs", "--out", str(tmp_path), "--check"]
    ran = wlhn(*command, "9")
    assert ran.code == 0, ran.err
    assert "MUTAG, gin: 4 runs again, the same" in ran.err
    assert "MUTAG, wlhn: 4 runs again, the same" in ran.err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.json")} == before

    path, command = tmp_path / PLACE / "gin" / "evaluation.json", [*command[:-1], "--model", "gin", "--check"]
    kinds = {"test_scores": "test score", "valid": "validation score", "valid_loss": "validation loss"}
    for field, kind in kinds.items():
        outcome = json.loads(before[path])
        score = outcome["splits"][0][field][1]
        outcome["splits"][0][field][1] = score + 0.25
        outcome["made_with"] |= {"torch": "0.1"}
        del outcome["made_with"]["processor"]
        path.write_text(json.dumps(outcome))
        ran = wlhn(*command, "3")  # the first runs on the two splits, and the second on the first
        assert ran.code == 2
        said = f"1 of 3 runs came out differently: {kind} by up to 0.25 (split 0, seed 2: {score}, stored"
        assert f"MUTAG, gin: failed: {said}" in ran.err
        assert "torch was 0.1 and is " in ran.err
        assert "not recorded: processor" in ran.err
        assert "numpy" not in ran.err  # which is the same
    assert wlhn(*command, "2").code == 0  # which does not get as far
    # The least difference counts; older outcomes know less, and are compared in that.
    outcome = json.loads(before[path])
    outcome["splits"][0]["test_scores"][1] += 1e-15
    del outcome["made_with"]
    for split in outcome["splits"]:
        del split["valid_loss"]
    path.write_text(json.dumps(outcome))
    ran = wlhn(*command, "3")
    assert re.search(
        r"differently: test score by up to \S+e-1\d \(split 0, seed 2: .*; not recorded: processor, ", ran.err
    )
    path.write_text(json.dumps(json.loads(before[path]) | {"data_hash": "0" * 12}))
    ran = wlhn(*command, "1", "--jobs", "2")
    assert "MUTAG, gin: failed: split 0, seed 1: MUTAG: its hash is" in ran.err


def test_what_was_made_portably_is_checked_portably(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check begins again under the variables of --portable, where all that it is about was made with it."""

    def begin_again() -> None:
        raise InputError("begun again")

    monkeypatch.setattr("wlhn.cli.reproduce.restart_portably", begin_again)
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    path = tmp_path / PLACE / "gin" / "evaluation.json"
    outcome = json.loads(path.read_text())
    outcome["made_with"]["instructions"] = "AVX2, portable"
    path.write_text(json.dumps(outcome))
    command = ["reproduce", "table-graphs", "--out", tmp_path]
    assert "begun again" in wlhn(*command, "--check", "1", "--model", "gin").err
    for others in (["--check", "1", "--model", "wlhn"], ["--model", "gin", "--grid", "none.json"]):
        assert "begun again" not in wlhn(*command, *others).err


def test_a_check_takes_what_is_stored(tmp_path: Path) -> None:
    for item, given, problem in (
        ("table-graphs", (), "has none of these results, so there is nothing to check"),
        ("table-graphs", ("--splits", "1"), "--splits has no effect with --check, which runs what is stored"),
        ("table-time", (), "--check has no effect on table-time, which is a measurement or a drawing"),
    ):
        ran = wlhn("reproduce", item, "--out", tmp_path, "--check", "1", *given)
        assert ran.code == 2
        assert problem in ran.err


def test_an_outcome_needs_no_jobs_to_count_as_done(
    whole: Path, grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clone has outcomes alone: neither they nor a part of them is run again, more than they have is."""
    shutil.copytree(whole, tmp_path / "clone", ignore=shutil.ignore_patterns("jobs"))
    monkeypatch.setattr("wlhn.evaluation.evaluate.run_jobs", lambda *given: 1 / 0)
    run(tmp_path / "clone", grid)
    run(tmp_path / "clone", grid, "--splits", "1")
    assert numbers(tmp_path / "clone") == numbers(whole)
    with pytest.raises(ZeroDivisionError):
        run(tmp_path / "clone", grid, "--splits", "3")


def test_errors_are_worse_where_they_are_larger(whole: Path, tmp_path: Path) -> None:
    """The paper has 0.0006 ± 0.0003 for effective size, in units of the targets' variance, 7.991."""
    place = Path("table-structural/ER-effective-size-0.008/wlhn")
    for error, said in ((0.0016, "s.e. worse"), (0.0001, "s.e. better")):
        text = outcome_of(whole, tmp_path, 7.991 * error, place, metric="mse", splits=10)
        assert said in verdict(text)


def verdict(text: str) -> str:
    return next(line for line in text.splitlines() if line.startswith("| WLHN against the paper"))


def test_a_result_file_that_lacks_something_is_named(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole / PLACE / "gin", tmp_path / PLACE / "gin")
    for item, given in {
        PLACE / "gin" / "evaluation.json": json.loads((whole / PLACE / "gin" / "evaluation.json").read_bytes()),
        Path("table-time/MUTAG.json"): {"seconds": {"gin": 1, "hgcn": 1, "wlhn": 1}, "rounds": 2, "threads": 1},
        Path("figure-hierarchy/figure.json"): {"correlation": {"GIN": [0.3]}, "dimension": 2, "tau": 1, "seeds": [0]},
    }.items():
        whole_file = {"version": "1"} | given
        (tmp_path / item).parent.mkdir(parents=True, exist_ok=True)
        for field in whole_file.keys() - {"search", "mean", "std", "made_with"}:  # means are those of the scores
            (tmp_path / item).write_text(json.dumps({k: v for k, v in whole_file.items() if k != field}))
            ran = wlhn("report", tmp_path, "--out", tmp_path / "RESULTS.md")
            assert ran.code == 2
            assert re.search(f"{item}.*(field|splits).*{field}|{item}, {field}: ", ran.err)
        (tmp_path / item).write_text(json.dumps(whole_file))
        for field in whole_file.get("splits", [{}])[0].keys() - {"scores", "valid_loss"}:
            damaged = [{key: value for key, value in split.items() if key != field} for split in whole_file["splits"]]
            (tmp_path / item).write_text(json.dumps(whole_file | {"splits": damaged}))
            ran = wlhn("report", tmp_path, "--out", tmp_path / "RESULTS.md")
            assert ran.code == 2
            assert f"{item}, splits 0: has no field '{field}'" in ran.err
        (tmp_path / item).write_text(json.dumps(whole_file))
    assert wlhn("report", tmp_path, "--out", tmp_path / "RESULTS.md").code == 0


def outcome_of(
    whole: Path,
    results: Path,
    mean: float,
    place: Path = PLACE / "wlhn",
    splits: int = 10,
    spread: float = 0.0,
    **changes: Any,
) -> str:
    """The report on a made-up outcome of WLHN, on MUTAG if not elsewhere; scores of its splits spread evenly."""
    outcome = json.loads((whole / PLACE / "wlhn" / "evaluation.json").read_bytes())
    outcome |= {"num_splits": None if splits == 10 else splits, "final_runs": 3} | changes
    runs, (one, *_) = outcome["final_runs"], outcome["splits"]
    scores = [mean + spread * (-1) ** k for k in range(splits)]
    outcome["splits"] = [
        one
        | {"valid": [0.5] * runs, "valid_loss": [1.0] * runs}
        | {"seeds": list(range(runs)), "test_scores": [score] * runs}
        for score in scores
    ]
    path = results / place / "evaluation.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(outcome))
    write_report(results, results / "RESULTS.md")
    return (results / "RESULTS.md").read_text()


@pytest.mark.parametrize(
    ("mean", "spread", "said"),
    [
        (0.86, 0.0, "as published"),
        (0.837, 0.0, "as published"),  # the paper's 86.0 ± 7.4 over ten folds: its standard error is 2.34
        (0.836, 0.0, "1.0 s.e. worse"),
        (0.836, 0.05, "as published"),  # our own spread counts as well
        (0.95, 0.0, "3.8 s.e. better"),
        (0.5, 0.0, "15.4 s.e. worse"),
    ],
)
def test_the_verdict_weighs_both_spreads(mean: float, spread: float, said: str, whole: Path, tmp_path: Path) -> None:
    text = outcome_of(whole, tmp_path, mean, spread=spread)
    assert said in verdict(text)
    assert "†" not in verdict(text)


def test_a_model_has_one_row_in_which_the_larger_grid_counts(whole: Path, tmp_path: Path) -> None:
    text = outcome_of(whole, tmp_path, 0.86)
    assert "as published" in verdict(text)
    assert "(86.0) *fair*" not in text
    text = outcome_of(whole, tmp_path, 0.5, place=PLACE / "wlhn-fair")  # the worse one: it is not chosen by its score
    assert "s.e. worse" in verdict(text)
    (row,) = (line for line in text.splitlines() if line.startswith("| **WLHN** |"))
    assert re.search(r"50\.0\]\(\./table-graphs/README\.md#mutag\) ± 0\.0§? \(86\.0\) \*fair\*", row)
    assert "86.0](" not in row
    page = (tmp_path / "table-graphs" / "README.md").read_text()
    assert "| WLHN | 86.0 ± 0.0 |" in page
    assert "| WLHN, fair grid | 50.0 ± 0.0 |" in page


def test_below_three_splits_there_is_no_verdict_and_parts_are_marked(whole: Path, tmp_path: Path) -> None:
    assert "too few runs to say" in verdict(outcome_of(whole, tmp_path, 0.5, splits=2))
    assert "2 × 3†" in outcome_of(whole, tmp_path, 0.5, splits=2)
    assert "10 × 1†" in outcome_of(whole, tmp_path, 0.5, final_runs=1)


def test_what_people_noted_is_shown(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "table-graphs").mkdir()
    (tmp_path / "table-graphs" / "NOTES.md").write_text("It rained.\n\nAll day.\n")
    text = outcome_of(whole, tmp_path, 0.9)
    assert "It rained. [More](./table-graphs/NOTES.md)." in text
    assert "All day." not in text
    assert "[NOTES.md](NOTES.md)" in (tmp_path / "table-graphs" / "README.md").read_text()


def test_folds_that_are_not_the_published_ones_are_marked(whole: Path, tmp_path: Path) -> None:
    published = next(column.splits for column in read_table("table-graphs").columns if column.key == "MUTAG")
    best = "| best published, same folds | "
    text = outcome_of(whole, tmp_path, 0.9, splits_hash=published)
    assert "§" not in text
    assert f"{best}89.2 (1-step RWNN) |" in text
    text = outcome_of(whole, tmp_path, 0.9, splits_hash="0" * 12)
    assert "± 0.0§ (86.0)" in text
    assert "§ marks folds that were drawn by seed" in text
    assert f"{best}– |" in text  # others, so not to be compared with


def test_a_model_is_compared_with_wlhn_from_its_own_grid(whole: Path, tmp_path: Path) -> None:
    for row, grid, score in (("wlhn", "lean", 0.7), ("wlhn-fair", "fair", 0.9), ("gin", "lean", 0.6)):
        outcome_of(whole, tmp_path, score, place=PLACE / row, grid=grid)
    outcome_of(whole, tmp_path, 0.6, place=PLACE / "gin-fair", grid="fair")
    lines = (tmp_path / "table-graphs" / "README.md").read_text().splitlines()
    against = {line.split(" | ")[0]: line.split(" | ")[6] for line in lines if line.startswith(("| GIN", "| WLHN"))}
    assert against == {
        "| GIN": "-10.0 (p < 0.01)",
        "| WLHN": "",
        "| WLHN, fair grid": "",
        "| GIN, fair grid": "-30.0 (p < 0.01)",
    }


def test_a_grid_that_changed_is_marked(whole: Path, tmp_path: Path) -> None:
    mark = "the grid of this name has other settings now"
    for grid, marked in ((None, False), ("lean", True)):
        text = outcome_of(whole, tmp_path, 0.9, **({} if grid is None else {"grid": grid}))
        row = next(line for line in text.splitlines() if line.startswith("| **WLHN** |"))
        assert ("‡" in row) == marked
        assert (mark in (tmp_path / "table-graphs" / "README.md").read_text()) == marked


def test_cells_can_be_widened_and_never_shrink(whole: Path, grid: Path, tmp_path: Path) -> None:
    run(tmp_path, grid, "--splits", "1")
    one = numbers(tmp_path)
    assert {len(outcome["splits"]) for outcome in one.values()} == {1}
    before = set(tmp_path.rglob("jobs/*.json"))
    run(tmp_path, grid)
    assert before < set(tmp_path.rglob("jobs/*.json"))
    assert numbers(tmp_path) == numbers(whole)
    run(tmp_path, grid, "--splits", "1")
    assert numbers(tmp_path) == numbers(whole)
    quick = arguments(tmp_path, grid)
    where = quick.index("--final-runs")
    assert wlhn(*quick[:where], *quick[where + 2 :]).code == 0  # without a number: as many as the protocol has
    assert {outcome["final_runs"] for outcome in numbers(tmp_path).values()} == {3}


def test_data_that_are_not_there_are_skipped_by_name_and_damaged_ones_fail(
    grid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def somewhere_else(data: str, **options: Any) -> Dataset:
        if data == "DD":
            raise UnavailableError("DD: lies on the moon")
        if data == "NCI1":
            raise InputError("NCI1: a hole in line 3")
        return load(data, **options)

    monkeypatch.setattr(cells, "load", somewhere_else)
    ran = wlhn(*arguments(tmp_path, grid), "--dataset", "DD", "--splits", 1)
    assert ran.code == 0, ran.err
    assert "DD: skipped: DD: lies on the moon" in ran.err
    assert len(numbers(tmp_path)) == 2
    ran = wlhn(*arguments(tmp_path, grid), "--dataset", "NCI1", "--splits", 1)
    assert ran.code == 2
    assert "1 of 3 parts failed, the first: NCI1: NCI1: a hole in line 3" in ran.err


def test_bad_input_ends_with_one_sentence(tmp_path: Path, grid: Path) -> None:
    damaged = tmp_path / "damaged"
    (damaged / "table-time").mkdir(parents=True)
    (tmp_path / "runs").mkdir()
    (damaged / "table-time" / "MUTAG.json").write_text("{")
    for given, said in (
        (["reproduce", "table-13"], "item: must be table-structural, "),
        (["reproduce", "table-nodes", "--dataset", "MUTAG"], "dataset MUTAG: is not part of it; choose Cornell, "),
        (["reproduce", "table-graphs", "--model", "gat"], "model gat: is not part of it; choose dgcnn, "),
        (
            ["reproduce", "figure-hierarchy", "--splits", "1"],
            "--splits has no effect on figure-hierarchy",
        ),
        (
            ["reproduce", "figure-hierarchy", "--executor", "ray"],
            "--executor has no effect on figure-hierarchy",
        ),
        (["reproduce", "table-time", "--seed", "3"], "--seed has no effect on table-time"),
        (["report", str(tmp_path / "nowhere")], "no such folder"),
        (["report", str(tmp_path / "runs")], "give the folder that `wlhn reproduce` wrote to"),
        (["report", str(damaged)], "MUTAG.json: is damaged, not JSON"),
    ):
        ran = wlhn(*given)
        assert ran.code == 2
        assert said in ran.err
        assert len(ran.err.strip().splitlines()) == 1


def test_a_failed_cell_fails_the_item_and_not_the_others(whole: Path, grid: Path, tmp_path: Path) -> None:
    (tmp_path / PLACE / "wlhn").mkdir(parents=True)
    shutil.copy(whole / PLACE / "gin" / "evaluation.json", tmp_path / PLACE / "wlhn" / "evaluation.json")
    ran = wlhn(*arguments(tmp_path, grid))
    assert ran.code == 2
    assert "1 of 2 parts failed, the first: MUTAG, wlhn: " in ran.err
    assert str(PLACE / "gin" / "evaluation.json") in numbers(tmp_path)


def test_times_are_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epochs, "SECONDS", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # two threads wait long for each other on a busy machine
    for _ in range(2):
        ran = wlhn("reproduce", "table-time", "--dataset", "mutag", "--out", tmp_path, "--json")
        assert ran.code == 0, ran.err
        monkeypatch.setattr(epochs, "alternate", None)  # a second measurement would fail
    seconds = json.loads((tmp_path / "table-time" / "MUTAG.json").read_bytes())["seconds"]
    assert seconds.keys() == {"gin", "hgcn", "wlhn"}
    write_report(tmp_path, tmp_path / "RESULTS.md")
    ratio = f"**{seconds['wlhn'] / seconds['gin']:.2f}** / 2.00"
    assert ratio in (tmp_path / "RESULTS.md").read_text()


def test_figures_of_trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "DATA", "karate")
    names = {"figure-hierarchy": ("refinement", "tree", "disc", "heatmap"), "figure-distances": ("distances", "tau")}
    bytes_before: dict[Path, bytes] = {}
    for _ in range(2):
        for item, pictures in names.items():
            assert wlhn("reproduce", item, "--out", tmp_path).code == 0
            for name in pictures:
                assert {f"{name}.svg", f"{name}.png"} <= {path.name for path in (tmp_path / item).iterdir()}
        found = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
        assert not bytes_before or found == bytes_before
        bytes_before = found
    correlation = json.loads((tmp_path / "figure-hierarchy" / "figure.json").read_bytes())["correlation"]
    assert min(correlation["WLHN"]) > 0.95 > 0.6 > max(correlation["GIN"])
    write_report(tmp_path, tmp_path / "RESULTS.md")
    text = (tmp_path / "RESULTS.md").read_text()
    for item, pictures in names.items():
        assert all(f"[{name}](./{item}/{name}.svg)" in text for name in pictures)
    assert re.search(r"\| WLHN \| 1.00 \| .* \| 0.98 \|", text)


def test_accuracy_against_depth(grid: Path, tmp_path: Path) -> None:
    item = "figure-oversmoothing"
    models = ["wlhn-depth-2", "wlhn-depth-20", "gin-depth-2", "gin-depth-20"]
    options = [x for model in models for x in ("--model", model)]
    ran = wlhn("reproduce", item, "--dataset", "MUTAG", *options, "--grid", grid, "--splits", 2, "--out", tmp_path)
    assert ran.code == 0, ran.err
    for path in (tmp_path / item / "MUTAG").glob("*/evaluation.json"):
        outcome = json.loads(path.read_bytes())
        assert [c["num_layers"] for c in outcome["candidates"]] == [int(path.parent.name.split("-")[-1])]
    assert (tmp_path / item / "MUTAG.svg").exists()
    write_report(tmp_path, tmp_path / "RESULTS.md")
    text = (tmp_path / "RESULTS.md").read_text()
    assert re.search(
        r"\| MUTAG, WLHN \| – \| \d+[^|]*† \| – \(86.0\) \| – \| – \(85.3\) \| \d+[^|]*† \(85.9\) \| – \|", text
    )
    assert "Numbers broke down (NaN or infinity) in 0 of 8 runs." in text
    command = f"wlhn reproduce {item} --dataset MUTAG --model gin-depth-20 --grid {grid} --splits 2"
    detail = (tmp_path / item / "README.md").read_text()
    assert f"| 2 × 1† | 1 of {grid.name} | " in detail
    assert f"`{command} --out again`" in detail
