"""`wlhn evaluate`: how good a model is on a data set, by a protocol that others can check."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wlhn.cli.common import options
from wlhn.cli.common.options import DataFlags
from wlhn.cli.common.output import Json, note, print_json, print_table, progress
from wlhn.errors import InputError
from wlhn.words import counted

if TYPE_CHECKING:
    from wlhn.evaluation.outcome import Outcome, ValidationOutcome
    from wlhn.evaluation.plan import Plan
    from wlhn.evaluation.progress import Progress
    from wlhn.runs.logging import Logger
    from wlhn.training.settings import Settings


@options.with_flags
def evaluate(
    data: options.Data,
    out: Annotated[Path, typer.Option(help="The folder of results; jobs that are done there are not repeated.")],
    *,
    flags: options.ModelFlags,
    protocol: Annotated[
        str, typer.Option(help="ten-fold, random-splits, fixed-splits, ogb, or one of a plugin.")
    ] = "ten-fold",
    search: Annotated[
        int | None,
        typer.Option(
            min=1, help="Try only this many settings of the grid on each split, as Optuna finds them promising."
        ),
    ] = None,
    validation_only: Annotated[
        bool, typer.Option("--validation-only", help="Compare the grid's candidates on validation items, then stop.")
    ] = False,
    asked: options.EvaluationFlags,
    compare: Annotated[
        Path | None, typer.Option(help="Another result folder on the same splits, for a paired test.")
    ] = None,
    log: options.Log = None,
    reading: DataFlags,
    json: Json = False,
) -> None:
    """Select settings on validation items, score the test items, and say how sure the number is."""
    given, model = flags.given(), flags.model
    from wlhn.evaluation.comparison import compare as compare_outcomes
    from wlhn.evaluation.evaluate import Evaluation
    from wlhn.evaluation.grids import read_grid
    from wlhn.evaluation.outcome import in_words, read_outcome
    from wlhn.evaluation.progress import PROGRESS
    from wlhn.report.live import live_page
    from wlhn.runs.logging import check_logger, make_logger
    from wlhn.training.balance import imbalance

    if log is not None:
        check_logger(log)
    if validation_only:
        for name, value in (("--search", search), ("--final-runs", asked.final_runs), ("--compare", compare)):
            if value is not None:
                raise InputError(
                    f"{name} has no effect with --validation-only, which tries all candidates; leave it out"
                )
    workers = asked.workers
    other = None if compare is None else read_outcome(compare)
    dataset = reading.load_with_notes(data, directed=given.get("directed") or None)
    if warning := imbalance(dataset, dataset.labelled.nonzero()[0], called=""):
        note(f"Warning: {warning}.")
    candidates = read_grid(asked.grid, model, dataset.level, given, featureless=not dataset.inputs)
    title = f"{dataset.name}, {model}"
    with progress(title, "job") as advance, live_page(out / PROGRESS, title) as page:

        def on_progress(now: Progress) -> None:
            advance(now.ended, now.total, now.phase)
            page.update(now.phase, now)

        evaluation = Evaluation(
            dataset,
            candidates,
            out,
            protocol=protocol,
            grid=", ".join([asked.grid, *(f"{name}={value}" for name, value in given.items())]),
            seed=reading.seed,
            final_runs=asked.final_runs,
            num_splits=asked.splits,
            search=search,
            workers=workers,
            retry_failed=asked.retry_failed,
            on_progress=on_progress,
        )
        if validation_only:
            compared = evaluation.compare_candidates()
            print_json(compared) if json else _print_validation(compared)
            return
        outcome = evaluation.run()
        page.result = f"Test {outcome.metric}: {in_words(outcome)}"
    comparison = None if other is None else compare_outcomes(outcome, other)
    if json:
        print_json(outcome.to_json() | ({} if comparison is None else {"comparison": comparison}))
    else:
        _print(outcome)
    if comparison is not None and other is not None and not json:
        typer.echo(
            f"Against {other.plan.model} ({other.plan.grid}) on the same splits: difference "
            f"{comparison.difference:+.4f}, better on {comparison.better}, worse on {comparison.worse}; "
            f"p = {comparison.wilcoxon_p:.3f} (Wilcoxon), {comparison.corrected_t_p:.3f} (corrected resampled t)."
        )
    if log is not None:  # last, so that a tracker that does not start costs no result
        _tell(make_logger(log, out, f"{dataset.name}-{model}"), outcome)


def _tell(logger: Logger, outcome: Outcome) -> None:
    """Every split's scores, and the mean."""
    plan = outcome.plan
    logger.about({"data": plan.data, "model": plan.model, "protocol": plan.protocol, "grid": plan.grid})
    for k, split in enumerate(outcome.splits):
        means = {"valid": sum(split.valid) / plan.final_runs, "test": sum(split.test_scores) / plan.final_runs}
        logger.numbers(means, k)
    logger.numbers({"test_mean": outcome.mean, "test_std": outcome.std}, len(outcome.splits))
    logger.close()


def _print(outcome: Outcome) -> None:
    from wlhn.evaluation.outcome import in_words
    from wlhn.training.metrics import METRICS

    plan, metric = outcome.plan, outcome.metric
    shown = METRICS[metric].shown
    choices = _differences([split.settings for split in outcome.splits], plan.candidates)
    valid = [shown(sum(split.valid) / len(split.valid)) for split in outcome.splits]
    test = [", ".join(map(shown, split.test_scores)) for split in outcome.splits]
    rows = list(zip(map(str, range(len(valid))), valid, test, choices, strict=True))
    title = f"{plan.data}, {plan.model}, {_protocol(plan)}, grid {plan.grid}"
    print_table(title, ("split", "validation", f"test {metric}", "chosen settings"), rows)
    typer.echo(
        f"Test {metric}: {in_words(outcome)} "
        f"({counted(outcome.work.jobs, 'run')}, {outcome.work.seconds:.0f} s of work, splits {plan.splits_hash})"
    )
    spreads = [(other, outcome.spread_of(key)) for key, other in METRICS.items() if key != metric]
    more = [f"{m.name} {m.shown(found[0])} ± {m.shown(found[1])}" for m, found in spreads if found is not None]
    if more:
        typer.echo(f"Also: {', '.join(more)}")
    if plan.search is not None:
        visited = outcome.visited
        typer.echo(
            f"The search tried {visited.per_split} of the grid's {visited.grid} settings on each split, "
            f"{visited.in_all} in all; {counted(visited.stopped, 'run')} stopped early."
        )
    if outcome.broken_runs:
        typer.echo(f"Numbers broke down in {counted(outcome.broken_runs, 'run')}; their best epochs before that count.")


def _print_validation(outcome: ValidationOutcome) -> None:
    from wlhn.training.metrics import METRICS

    settings = [candidate.settings for candidate in outcome.candidates]
    rows = [
        (METRICS[outcome.metric].shown(candidate.valid), f"{candidate.valid_loss:.3f}", difference)
        for candidate, difference in zip(outcome.candidates, _differences(settings, settings), strict=True)
    ]
    plan = outcome.plan
    title = f"{plan.data}, {plan.model}, {_protocol(plan)}: means over splits, test items unseen"
    print_table(title, (f"validation {outcome.metric}", "validation loss", "settings"), rows)


def _protocol(plan: Plan) -> str:
    return plan.protocol + (f" (the first {plan.num_splits})" if plan.num_splits else "")


def _differences(shown: Sequence[Settings], candidates: Sequence[Settings]) -> list[str]:
    """Settings in words: those in which candidates differ."""
    flat = [settings.to_json() for settings in candidates]
    varied = [name for name in flat[0] if len({str(one[name]) for one in flat}) > 1]
    return [", ".join(f"{name} {settings.to_json()[name]}" for name in varied) or "the only one" for settings in shown]
