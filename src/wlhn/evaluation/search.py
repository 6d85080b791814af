"""Selection from a grid larger than can be run: Optuna's TPE sampler chooses candidates, split by split.

It works in rounds. All candidates of a round are chosen and given their `stops` from the results of the rounds before.
So the search is a pure function of grid, seed and results: it does not depend on how many jobs run at once, and one
that was killed repeats its choices and finds their results on disk. A longer search begins with the shorter one. It
sees validation scores and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from wlhn.errors import InputError
from wlhn.evaluation.jobs import JobResult
from wlhn.evaluation.pruning import Stop, epochs_of, rungs, stops
from wlhn.plugins import import_extra
from wlhn.training.metrics import METRICS
from wlhn.training.settings import Settings

ROUND = 5  # candidates of each split at a time
ATTEMPTS = 30  # to be offered something new

Trial = tuple[int, int, Sequence[Stop]]  # split, candidate, stops


def search_each_split(
    candidates: Sequence[Settings],
    trials: int,
    splits: int,
    seed: int,
    run: Callable[[str, list[Trial]], list[JobResult]],
) -> list[list[tuple[int, JobResult]]]:
    """For each split, the candidates that were tried, each with its result, in the order of trial.

    `run(phase, trials)` gives the results of a round.
    """
    if trials < 1:
        raise InputError(f"search: must be 1 or more, found {trials}")
    trials = min(trials, len(candidates))
    searches = [Search(candidates, np.random.SeedSequence([seed, k])) for k in range(splits)]
    for first in range(0, trials, ROUND):
        number = min(ROUND, trials - first)
        asked: list[Trial] = [(k, *trial) for k, one in enumerate(searches) for trial in one.ask(number)]
        results = run(f"search, trials {first + 1} to {first + number} of {trials}", asked)
        for (k, candidate, _), result in zip(asked, results, strict=True):
            searches[k].tell(candidate, result)
    return [one.tried for one in searches]


class Search:
    """The search of one split: a study of Optuna's in memory, made again from the results whenever it is needed."""

    def __init__(self, candidates: Sequence[Settings], seed: np.random.SeedSequence) -> None:
        optuna = import_extra("optuna", "a search needs Optuna; install it with pip install 'wlhn[search]'")
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.candidates, self.tried = [settings.to_json() for settings in candidates], list[tuple[int, JobResult]]()
        self.epochs = [epochs_of(settings) for settings in candidates]
        varied = [name for name in self.candidates[0] if len({one[name] for one in self.candidates}) > 1]
        self.values = {name: sorted({one[name] for one in self.candidates}) for name in varied}
        self.places = {tuple(one[name] for name in varied): k for k, one in enumerate(self.candidates)}
        for_sampler, for_rest = seed.generate_state(2)
        self.study = optuna.create_study(
            direction="maximize", sampler=optuna.samplers.TPESampler(seed=int(for_sampler), n_startup_trials=2 * ROUND)
        )
        self.rest = np.random.default_rng(for_rest).permutation(len(candidates)).tolist()
        self.states, self.open = optuna.trial.TrialState, dict[int, Any]()

    def ask(self, number: int) -> list[tuple[int, list[Stop]]]:
        """So many candidates that were not tried yet, each with what it has to reach by when."""
        curves = [result.curve for _, result in self.tried]
        asked = [self._new() for _ in range(number)]
        return [(k, stops(self.epochs[k], curves)) for k in asked]

    def tell(self, candidate: int, result: JobResult) -> None:
        """What came of a candidate."""
        self.tried.append((candidate, result))
        trial, rank = self.open.pop(candidate), METRICS[result.metric].rank
        for rung, value in zip(rungs(self.epochs[candidate]), result.curve, strict=False):
            trial.report(rank(value), rung)
        if result.stopped:
            self.study.tell(trial, state=self.states.PRUNED)
        else:
            self.study.tell(trial, rank(result.valid))

    def _new(self) -> int:
        """A candidate that is new, as the sampler likes; at random where it offers nothing new."""
        seen = {k for k, _ in self.tried} | set(self.open)
        for _ in range(ATTEMPTS):
            trial = self.study.ask()
            place = self._suggested(trial)
            if place is not None and place not in seen:
                self.open[place] = trial
                return place
            self.study.tell(trial, state=self.states.FAIL)  # which the sampler takes no notice of
        place = next(k for k in self.rest if k not in seen)
        values = self.candidates[place]
        self.study.enqueue_trial({name: _given(known, values[name]) for name, known in self.values.items()})
        self.open[place] = self.study.ask()
        self._suggested(self.open[place])
        return place

    def _suggested(self, trial: Any) -> int | None:
        """The candidate that a trial stands for, if there is one. Numbers have an order: near ones are alike."""
        values = []
        for name, known in self.values.items():
            if _ordered(known):
                values.append(known[trial.suggest_int(name, 0, len(known) - 1)])
            else:
                values.append(trial.suggest_categorical(name, known))
        return self.places.get(tuple(values))


def _ordered(values: Sequence[Any]) -> bool:
    return not isinstance(values[0], str | bool)


def _given(known: Sequence[Any], value: Any) -> Any:
    """How a trial says a value."""
    return known.index(value) if _ordered(known) else value
