"""Table 5, the time of an epoch: GIN, HGCN and WLHN take turns on one data set, and ratios to GIN are compared.

Seconds depend on the machine, ratios much less. One file for each data set, `results/table-time/NAME.json`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wlhn.bench.epoch import BATCH, CHANNELS, LAYERS, make_epoch
from wlhn.bench.timing import alternate
from wlhn.data.load import load
from wlhn.errors import InputError
from wlhn.evaluation.progress import Progress
from wlhn.experiments.request import Finished, Request
from wlhn.experiments.sections import NOT_RUN, what_was_learned
from wlhn.experiments.table import command_for, known_key, read_paper
from wlhn.files import read_json, write_json
from wlhn.loops.parallel import torch_threads
from wlhn.report.markdown import Block, TableBlock
from wlhn.training.provenance import code_version, data_hash
from wlhn.words import listed

CONTESTANTS = ("gin", "hgcn", "wlhn")
MOST_ROUNDS, SECONDS = 7, 60  # at least two rounds; more as long as they fit


def reproduce_times(item: str, request: Request) -> Iterator[Finished]:
    """Measure the data sets that are asked for and have not been measured."""
    known = list(read_paper(item)["rows"]["GIN"])
    for name in [known_key("dataset", given, known) for given in request.datasets] or known:
        path = request.folder / item / f"{name}.json"
        if not path.exists():
            try:
                write_json(path, _measure(name, request))
            except InputError as error:
                yield Finished.without_result(name, error)
                continue
        seconds = _read(path)["seconds"]
        yield Finished(name, shown=", ".join(f"{c}/gin {seconds[c] / seconds['gin']:.2f}" for c in CONTESTANTS[1:]))


def _measure(name: str, request: Request) -> dict[str, object]:
    dataset = load(name, data_root=request.data_root)
    request.say(name, Progress("measuring", 1))
    number = min(2, os.cpu_count() or 1)
    with torch_threads(number):
        epochs = {contestant: make_epoch(contestant, dataset) for contestant in CONTESTANTS}
        best = alternate(epochs, 1, warm_up=1)
        rounds = min(MOST_ROUNDS, 2 + int(SECONDS / sum(best.values())))
        more = alternate(epochs, rounds - 1)
    return {
        "data": dataset.name,
        "data_hash": data_hash(dataset),
        "seconds": {c: round(min(best[c], more[c]), 6) for c in CONTESTANTS},
        "rounds": rounds,
        "threads": number,
        "version": code_version(),
    }


def _read(path: Path) -> dict[str, Any]:
    """What was measured on a data set."""
    found = read_json(path, ("seconds", "rounds", "threads", "version"))
    for contestant in CONTESTANTS:
        if contestant not in found["seconds"]:
            raise InputError(f"{path}: has no seconds of {contestant}; remove it to measure again")
    return found


def times_section(item: str, results: Path, link: str) -> list[Block]:
    """The section of table 5."""
    paper = read_paper(item)
    known = list(paper["rows"]["GIN"])
    found = {name: _read(path) for name in known if (path := results / item / f"{name}.json").exists()}
    title, about = f"## {paper['title']}", f"{paper['about']} {command_for(item)}."
    if not found:
        return [title, f"{about} {NOT_RUN}"]
    about += (
        f" Width {CHANNELS}, {LAYERS} layers, batches of {BATCH}; the best of the rounds, in which they take turns. "
        "Ratios are ours / the paper's."
    )
    if missing := [name for name in known if name not in found]:
        about += f" Not run: {listed(missing)}."
    header = ["data set", "HGCN/GIN", "WLHN/GIN", "GIN s", "HGCN s", "WLHN s", "threads", "version"]
    rows = []
    for name, result in found.items():
        seconds = result["seconds"]
        published = {c: paper["rows"][c.upper()][name] for c in CONTESTANTS}
        ratios = [
            f"**{seconds[c] / seconds['gin']:.2f}** / {published[c] / published['gin']:.2f}" for c in CONTESTANTS[1:]
        ]
        times = [f"{seconds[c]:.3f}" for c in CONTESTANTS]
        rows.append([name, *ratios, *times, str(result["threads"]), result["version"]])
    return [title, about, TableBlock(header, rows), *what_was_learned(results, item, link)]
