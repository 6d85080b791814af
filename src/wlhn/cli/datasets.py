"""`wlhn datasets`: what is known, where it lies, what it holds, how it compares with the paper."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated, Any

import typer

from wlhn.cli.common.options import Data, DataFlags, with_flags
from wlhn.cli.common.output import DataRoot, Json, print_json, print_table, print_values
from wlhn.data.load import data_root_or_environment, load
from wlhn.data.registry import DATASETS, KNOWN, known_name, locate
from wlhn.data.statistics import Check, published, statistics
from wlhn.data.statistics import check as check_figures
from wlhn.errors import InputError

datasets = typer.Typer(help="Data sets: known ones, where they lie, their statistics against the published ones.")


@datasets.callback(invoke_without_command=True)
def list_datasets(context: typer.Context, data_root: DataRoot = None, json: Json = False) -> None:
    """List the known data sets and where each lies."""
    if context.invoked_subcommand is not None:
        return
    root = data_root_or_environment(data_root)
    rows: list[dict[str, Any]] = [
        {"name": name, "aliases": known.aliases, "kind": known.kind, "about": known.about, **vars(locate(name, root))}
        for name, known in KNOWN.items()
    ]
    rows += [
        {"name": name, "aliases": [], "kind": "outside", "about": "of a plugin", "found": "built in", "path": None}
        for name in DATASETS.names()
    ]
    if json:
        print_json(rows)
        return
    places = {"built in": "built in", "download": "to be downloaded"}
    for row in rows:  # lines, not a table: a path must not be cut
        typer.echo(f"{row['name']:<24} {row['path'] or places[row['found']]}  ({row['about']})")


@datasets.command("show")
@with_flags
def show(
    data: Data,
    *,
    directed: Annotated[
        bool | None, typer.Option(help="Whether edges have a direction; without it, as the format.")
    ] = None,
    reading: DataFlags,
    json: Json = False,
) -> None:
    """What a data set holds: statistics, what its columns are taken for, splits and notes."""
    dataset = reading.load(data, directed=directed)
    document: dict[str, Any] = {
        "name": dataset.name,
        "level": dataset.level,
        "task": dataset.task,
        "summary": dataset.summary,
        "statistics": statistics(dataset),
        "classes": list(dataset.classes),
        "inputs": list(dataset.inputs) or ["degree"],
        "columns": dataset.columns,
        "splits": [
            {"train": len(s.train), "valid": len(s.valid), "test": len(s.test), "hash": s.hash} for s in dataset.splits
        ],
        "notes": list(dataset.notes),
        "skipped": dataset.skipped,
    }
    if json:
        print_json(document)
        return
    print_values(f"{dataset.name}: {dataset.level} {dataset.task}", "statistic", asdict(document["statistics"]))
    rows = [(column.name, column.role, column.kind, column.detail) for column in dataset.columns]
    print_table("Columns", ("column", "role", "kind", "detail"), rows)
    typer.echo(f"{dataset.name}: {dataset.summary}")
    typer.echo(f"A model sees: {', '.join(document['inputs'])}")
    if dataset.splits:
        typer.echo(f"Splits that come with it: {len(dataset.splits)}, the first {dataset.splits[0]!r}")
    for note in dataset.notes:
        typer.echo(f"Note: {note}")


@datasets.command("check")
def check(
    name: Annotated[str | None, typer.Argument(help="A known name; without it, every set that is at hand.")] = None,
    data_root: DataRoot = None,
    json: Json = False,
) -> None:
    """Compare statistics with the paper's; exit code 1 where a difference has no explanation."""
    root = data_root_or_environment(data_root)
    if name is None:
        names = [n for n in KNOWN if published(n) and locate(n, root).found != "download"]
    elif (registered := known_name(name)) is not None and published(registered):
        names = [registered]
    else:
        raise InputError(
            f"{name}: the paper has no figures for it; it has some for {', '.join(n for n in KNOWN if published(n))}"
        )
    results = {}
    for n in names:
        results[n] = check_figures(n, statistics(load(n, data_root=root, progress=sys.stderr.isatty())))
        if not json:
            _print_checks(n, results[n])
    if json:
        print_json(results)
    if any(c.verdict == "differs" for checks in results.values() for c in checks):
        raise typer.Exit(1)


@datasets.command("audit")
@with_flags
def audit(
    data: Data,
    *,
    rounds: Annotated[int, typer.Option(min=0, help="Rounds of refinement.")] = 5,
    initial: Annotated[
        str | None, typer.Option(help="uniform, degree, label or features; without it, what a model sees of a node.")
    ] = None,
    reading: DataFlags,
    json: Json = False,
) -> None:
    """What structure can and cannot decide: WL-equal items, the ceiling that follows, twins across folds."""
    from wlhn.data.audit import audit as audit_dataset

    dataset = reading.load_with_notes(data)
    result = audit_dataset(dataset, rounds=rounds, initial=initial, seed=reading.seed)
    if json:
        print_json(result)
        return
    best = "error floor (MSE)" if result.majority is None else "accuracy ceiling"
    rows = []
    for d in result.depths:
        bound = f"{d.floor:.4g}" if d.floor is not None else "-" if d.ceiling is None else f"{d.ceiling:.2%}"
        rows.append((f"{d.depth}", d.classes, f"{d.alike:.2%}", f"{d.conflicting:.2%}", bound))
    title = f"{result.name}: {result.items:,} {result.level}s, start {result.start}"
    print_table(title, ("depth", "WL classes", "WL-equal to another", "with another target", best), rows)
    if result.majority is not None:
        typer.echo(f"Always the most frequent class: {result.majority:.2%}")
    twins = result.twins
    typer.echo(
        f"WL-equal at depth {result.depths[-1].depth}: {twins.items:,} {result.level}s in {twins.groups:,} groups, "
        f"{twins.groups_agreeing:,} of one target and {twins.groups_conflicting:,} of several "
        f"({twins.pairs_equal:,} pairs with equal and {twins.pairs_conflicting:,} with different targets)"
    )
    test = sum(leak.test for leak in result.leaks)
    for what, count in (
        ("have a twin among training and validation items", sum(leak.with_twin for leak in result.leaks)),
        ("have one with the same target", sum(leak.with_equal_twin for leak in result.leaks)),
        ("have one with another target", sum(leak.with_conflicting_twin for leak in result.leaks)),
    ):
        typer.echo(f"Across folds ({result.splits}): {count / max(test, 1):.2%} of test items {what}")


def _print_checks(name: str, checks: list[Check]) -> None:
    equal = sum(c.verdict == "equal" for c in checks)
    typer.echo(f"{name}: {equal} of {len(checks)} figures as published")
    for c in checks:
        if c.verdict != "equal":
            why = c.why or "no explanation known"
            typer.echo(f"  {c.figure.replace('_', ' ')}: published {c.published}, here {c.actual}: {why}")
