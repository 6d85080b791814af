"""From the results of jobs to what an outcome says of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from wlhn.data.splits import Split
from wlhn.evaluation.job import JobResult
from wlhn.evaluation.outcome import UNKNOWN, Candidate, Outcome, SplitOutcome, Visited, Work
from wlhn.evaluation.plan import Plan
from wlhn.training.settings import Settings

Row = Sequence[JobResult]  # the results of one split
OF_RUNS = ("valid", "test_scores", "seeds", "valid_loss", "scores", "voices")  # fields with a value for each final run


def split_outcome(split: Split, settings: Settings, final: Row) -> SplitOutcome:
    """What came of a split: the settings that were chosen, and the final runs with them."""
    scores = tuple(result.scores for result in final if result.scores is not None)
    return SplitOutcome(
        hash=split.hash,
        train=len(split.train),
        test=len(split.test),
        settings=settings,
        valid=tuple(result.valid for result in final),
        test_scores=tuple(result.test for result in final if result.test is not None),
        seeds=tuple(result.job.seed for result in final),
        scores=scores if len(scores) == len(final) else None,  # results of before had none
        valid_loss=tuple(result.valid_loss for result in final),
        voices=tuple(result.voices for result in final) if all(result.voices for result in final) else None,
    )


def with_further_runs(before: SplitOutcome | None, new: SplitOutcome | None) -> SplitOutcome:
    """A split with further final runs of the same settings; what one of both does not say of its runs is left out."""
    if before is None or new is None:
        split = before or new
        assert split is not None
        return split
    of_runs: dict[str, Any] = {name: (getattr(before, name), getattr(new, name)) for name in OF_RUNS}
    together: dict[str, Any] = {name: one + two if one and two else None for name, (one, two) in of_runs.items()}
    return replace(before, **together)


def merged(before: Outcome, new: Outcome) -> Outcome:
    """A new outcome that stands on one of before: what both took, and what went wrong in either."""
    one, other = before.work, new.work
    names = dict.fromkeys((*one.made_with, *other.made_with))
    made_with = {name: _either(w.made_with.get(name, UNKNOWN) for w in (one, other)) for name in names}
    return replace(
        new,
        largest_radius=max(before.largest_radius, new.largest_radius),
        broken_runs=before.broken_runs + new.broken_runs,
        work=Work(
            jobs=one.jobs + other.jobs,
            seconds=round(one.seconds + other.seconds, 1),
            version=", ".join(sorted({*one.version.split(", "), *other.version.split(", ")})),
            made_with=made_with,
        ),
    )


def candidate_means(plan: Plan, selection: Sequence[Row]) -> tuple[Candidate, ...]:
    """How each candidate did on the validation items, the mean over splits."""
    splits = len(selection)
    return tuple(
        Candidate(
            settings,
            valid=sum(row[k].valid for row in selection) / splits,
            valid_loss=sum(row[k].valid_loss for row in selection) / splits,
        )
        for k, settings in enumerate(plan.candidates)
    )


def visited(plan: Plan, selection: Sequence[Row]) -> Visited:
    """How much of the grid was tried."""
    done = [result for row in selection for result in row]
    return Visited(
        grid=len(plan.candidates),
        per_split=max(map(len, selection)),
        in_all=len({result.job.settings for result in done}),
        stopped=sum(result.stopped for result in done),
    )


def work(done: Row) -> Work:
    """What results cost, and what made them: more than one of a kind, where they come from more than one place."""
    names = dict.fromkeys(name for result in done for name in result.made_with)
    return Work(
        jobs=len(done),
        seconds=round(sum(result.seconds for result in done), 1),
        version=", ".join(sorted({result.version for result in done})),
        made_with={name: _either(result.made_with.get(name, UNKNOWN) for result in done) for name in names},
    )


def _either(values: Iterable[str]) -> str:
    return " or ".join(sorted({each for value in values for each in value.split(" or ")}))
