"""From the results of jobs to what an outcome says of them."""

from __future__ import annotations

from collections.abc import Sequence

from wlhn.data.splits import Split
from wlhn.evaluation.job import JobResult
from wlhn.evaluation.outcome import UNKNOWN, Candidate, SplitOutcome, Visited, Work
from wlhn.evaluation.plan import Plan
from wlhn.training.settings import Settings

Row = Sequence[JobResult]  # the results of one split


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
        made_with={
            name: " or ".join(sorted({result.made_with.get(name, UNKNOWN) for result in done})) for name in names
        },
    )
