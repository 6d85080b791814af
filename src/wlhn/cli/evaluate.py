"""`wlhn evaluate`: how good a model is on a data set, by a protocol that others can check."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from wlhn.cli import options
from wlhn.cli.output import DataRoot, Json, Seed, print_json, print_table
from wlhn.cli.progress import progress


def evaluate(
    data: Annotated[str, typer.Argument(help="A known name or a path.")],
    out: Annotated[Path, typer.Option("--out", help="The folder of results; what is done there is not done again.")],
    model: options.Model = "wlhn",
    protocol: Annotated[str, typer.Option(help="ten-fold, random-splits, fixed-splits or ogb.")] = "ten-fold",
    grid: options.Grid = "lean",
    set_: options.Set = None,
    splits: options.Splits = None,
    final_runs: options.FinalRuns = None,
    search: Annotated[
        int | None,
        typer.Option(min=1, help="Try so many settings of the grid on each split, as Optuna finds them promising."),
    ] = None,
    validation_only: Annotated[
        bool, typer.Option("--validation-only", help="Compare the grid's candidates on validation items, and stop.")
    ] = False,
    jobs: options.Jobs = None,
    executor: options.ExecutorKind = "local",
    address: options.Address = None,
    retry_failed: options.RetryFailed = False,
    compare: Annotated[
        Path | None, typer.Option("--compare", help="Another result folder on the same splits, for a paired test.")
    ] = None,
    data_root: DataRoot = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Select settings on validation items, score the test items, and say how sure the number is."""
    from wlhn.data.load import load
    from wlhn.evaluation.comparison import compare as compare_outcomes
    from wlhn.evaluation.evaluate import evaluate as run_evaluation
    from wlhn.evaluation.executor import executor_named
    from wlhn.evaluation.grids import read_grid
    from wlhn.evaluation.outcome import read_outcome

    further = options.set_beside({"model": model}, set_)
    other = None if compare is None else read_outcome(compare)
    dataset = load(data, data_root=data_root, progress=sys.stderr.isatty())
    candidates = read_grid(grid, model, dataset.level, further)
    with (
        executor_named(executor, jobs, address) as workers,
        progress(f"{dataset.name}, {model}", "job") as advance,
    ):
        outcome = run_evaluation(
            dataset,
            data,
            candidates,
            out,
            protocol=protocol,
            grid=", ".join([grid, *(f"{name}={value}" for name, value in further.items())]),
            seed=seed,
            final_runs=final_runs,
            num_splits=splits,
            search=search,
            validation_only=validation_only,
            data_root=None if data_root is None else str(data_root),
            executor=workers,
            retry_failed=retry_failed,
            on_done=lambda phase, done, total: advance(done, total, phase),
        )
    if validation_only:
        print_json(outcome) if json else _print_validation(outcome)
        return
    comparison = None if other is None else asdict(compare_outcomes(outcome, other))
    if json:
        print_json(outcome if comparison is None else outcome | {"comparison": comparison})
        return
    _print(outcome)
    if comparison is not None and other is not None:
        typer.echo(
            f"Against {other['model']} ({other['grid']}) on the same splits: difference "
            f"{comparison['difference']:+.4f}, better on {comparison['better']}, worse on {comparison['worse']}; "
            f"p = {comparison['wilcoxon_p']:.3f} (Wilcoxon), {comparison['corrected_t_p']:.3f} (corrected resampled t)."
        )


def _print(outcome: dict[str, Any]) -> None:
    from wlhn.evaluation.outcome import in_words, shown

    metric = outcome["metric"]
    choices = _differences([split["settings"] for split in outcome["splits"]], outcome["candidates"])
    rows = [
        (
            str(k),
            shown(sum(split["valid"]) / len(split["valid"]), metric),
            ", ".join(shown(score, metric) for score in split["test_scores"]),
            choice,
        )
        for k, (split, choice) in enumerate(zip(outcome["splits"], choices, strict=True))
    ]
    title = f"{outcome['data']}, {outcome['model']}, {_protocol(outcome)}, grid {outcome['grid']}"
    print_table(title, ("split", "validation", f"test {metric}", "chosen settings"), rows)
    typer.echo(
        f"Test {metric}: {in_words(outcome)} "
        f"({outcome['jobs']} runs, {outcome['seconds']:.0f} s of work, splits {outcome['splits_hash']})"
    )
    if outcome["search"] is not None:
        visited = outcome["visited"]
        typer.echo(
            f"The search tried {visited['per_split']} of the grid's {visited['grid']} settings on each split, "
            f"{visited['in_all']} in all; {visited['stopped']} runs were stopped early."
        )
    if outcome["numerics"]["broken_runs"]:
        typer.echo(f"Numbers broke down in {outcome['numerics']['broken_runs']} runs; their best epochs before count.")


def _print_validation(outcome: dict[str, Any]) -> None:
    from wlhn.evaluation.outcome import shown

    settings = [candidate["settings"] for candidate in outcome["candidates"]]
    rows = [
        (shown(candidate["valid"], outcome["metric"]), f"{candidate['valid_loss']:.3f}", difference)
        for candidate, difference in zip(outcome["candidates"], _differences(settings, settings), strict=True)
    ]
    title = f"{outcome['data']}, {outcome['model']}, {_protocol(outcome)}: means over splits, test items unseen"
    print_table(title, (f"validation {outcome['metric']}", "validation loss", "settings"), rows)


def _protocol(outcome: dict[str, Any]) -> str:
    part = outcome["num_splits"]
    return outcome["protocol"] + (f" (the first {part})" if part else "")


def _differences(shown: list[dict[str, Any]], candidates: list[dict[str, Any]]) -> list[str]:
    """Settings in words: those in which candidates differ."""
    varied = [name for name in candidates[0] if len({str(c[name]) for c in candidates}) > 1]
    return [", ".join(f"{name} {settings[name]}" for name in varied) or "the only one" for settings in shown]
