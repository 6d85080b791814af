"""Candidates on nodes held out of the published splits (`inner_splits.py`), and what rules of choice make of them.

Prints, for each set and model, the mean accuracy of each candidate on the nodes held out, and that of the candidates
which a rule chooses on each split: by the best validation accuracy of an epoch (of equal ones the smaller loss), by the
mean of the epochs since, or by the loss at the best epoch.

    WLHN_DATA=… python results/node-heads/heads.py --sets Texas,Wisconsin --models wlhn,mlp --runs 2
"""

import argparse
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from inner_splits import inner_splits

from wlhn.data import load
from wlhn.evaluation.grids import read_grid
from wlhn.training.answers import answers_on
from wlhn.training.fit import fit
from wlhn.training.problem import Problem

MODELS = "wlhn,mlp,gcn,gin,gat,mixhop,hgcn-poincare,hgcn-hyperboloid,geom-gcn,pgnn"
GRID = str(Path(__file__).with_name("heads.json"))


class Run(NamedTuple):
    """What became of a candidate on a split."""

    best: float
    since_best: float
    loss_at_best: float
    held_out: float


RULES = {
    "best epoch": lambda run: (run.best, -run.loss_at_best),
    "epochs since": lambda run: run.since_best,
    "loss": lambda run: -run.loss_at_best,
}


def run_once(problem: Problem, seed: int) -> Run:
    fitted = fit(problem, seed)
    best, later = fitted.best, fitted.history[fitted.best.epoch :]
    answers = answers_on(problem, fitted.model, problem.split.test)
    assert answers is not None
    since = float(np.mean([epoch.valid_metric for epoch in later])) if later else best.valid_metric
    return Run(best.valid_metric, since, best.valid_loss, answers.score())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="Cornell,Texas,Wisconsin")
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--grid", default=GRID)
    asked: Any = parser.parse_args()
    torch.set_num_threads(1)
    for model, name in product(asked.models.split(","), asked.sets.split(",")):
        data, grid = load(f"{name}+undirected"), read_grid(asked.grid, model, "node")
        runs = [  # of each split, of each candidate
            [[run_once(Problem(data, split, each), seed + 100 * k) for seed in range(asked.runs)] for each in grid]
            for k, split in enumerate(inner_splits(data, 0))
        ]
        held_out = 100 * np.array([[[run.held_out for run in again] for again in split] for split in runs])
        print(f"{model} on {name}")
        for settings, accuracy in zip(grid, held_out.mean(axis=(0, 2)), strict=True):
            options = settings.to_json()
            varied = ("num_layers", "dropout", "input_dropout", "head", "tau")
            print(f"  {accuracy:.1f}", *(f"{each}={options[each]}" for each in varied if each in options))
        for rule, value in RULES.items():
            chosen = [
                held_out[k, max(range(len(grid)), key=lambda c: value(split[c][seed]))].mean()
                for k, split in enumerate(runs)
                for seed in range(asked.runs)
            ]
            print(f"  chosen by {rule}: {np.mean(chosen):.1f}", flush=True)


if __name__ == "__main__":
    main()
