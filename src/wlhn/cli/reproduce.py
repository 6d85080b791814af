"""`wlhn reproduce`, `wlhn report`: a table or a figure of the paper, made again, beside what was published."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wlhn.cli.common import options
from wlhn.cli.common.output import DataRoot, Json, Seed, note, print_json, print_table, progress
from wlhn.errors import InputError
from wlhn.options.portable import restart_portably

if TYPE_CHECKING:
    from wlhn.evaluation.progress import Progress

WHAT = (
    "table-structural, table-nodes, table-graphs, table-molecules, table-time, table-feature-noise, "
    "table-structure-noise, figure-hierarchy, figure-distances, figure-oversmoothing, or the JSON file of a table."
)


@options.with_flags
def reproduce(
    item: Annotated[str, typer.Argument(help=WHAT)],
    *,
    dataset: Annotated[list[str] | None, typer.Option(help="Only this data set; repeatable.")] = None,
    model: Annotated[list[str] | None, typer.Option(help="Only this model or variant; repeatable.")] = None,
    out: Annotated[Path, typer.Option(help="The folder of results; jobs that are done are not repeated.")] = Path(
        "results"
    ),
    check: Annotated[
        int | None,
        typer.Option(min=1, help="Repeat this many final runs of each result in the folder, and compare."),
    ] = None,
    asked: options.EvaluationFlags,
    plugin: options.Plugin = None,
    data_root: DataRoot = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Run a table or figure of the paper on the data at hand; stop and restart it as you like."""
    from wlhn.experiments.catalogue import reproduce as run
    from wlhn.experiments.catalogue import wants_portable, watched
    from wlhn.experiments.request import Request

    options.load_plugins(plugin)
    request = Request(
        folder=out,
        datasets=tuple(dataset or ()),
        models=tuple(model or ()),
        grid=asked.grid,
        splits=asked.splits,
        final_runs=asked.final_runs,
        seed=seed,
        workers=asked.workers,
        retry_failed=asked.retry_failed,
        check=check,
        data_root=None if data_root is None else str(data_root),
    )
    if wants_portable(item, request):
        restart_portably()
    parts = []
    with progress(item, "job") as advance, watched(item, request) as page:

        def on_progress(part: str, now: Progress) -> None:
            advance(now.ended, now.total, f"{part}: {now.phase}")
            page.update(part, now)

        for part in run(item, replace(request, say=on_progress)):
            parts.append(part)
            page.end_part(part.part, part.state, part.said)
            note(f"{part.part}: {part.verdict}")
    if json:
        print_json(parts)
    else:
        rows = [(part.part, part.shown or part.state) for part in parts]
        print_table(f"{item}, results in {out}", ("part", "result"), rows)
    failed = [part for part in parts if part.failed]
    if failed:
        raise InputError(f"{len(failed)} of {len(parts)} parts failed, the first: {failed[0].part}: {failed[0].failed}")


def report(
    results: Annotated[Path, typer.Argument(help="The folder of results of `wlhn reproduce`.")] = Path("results"),
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("RESULTS.md"),
    table: Annotated[
        list[str] | None, typer.Option(help="Also a table of your own: its JSON file; repeatable.")
    ] = None,
    html: Annotated[
        bool, typer.Option("--html", help="Also as one offline page, figures and details included, beside --out.")
    ] = False,
    json: Json = False,
) -> None:
    """Write RESULTS.md, our numbers beside the paper's, and a page with the details of each table."""
    from wlhn.experiments.catalogue import write_report

    if not results.is_dir():
        raise InputError(f"{results}: no such folder; give that of the results of `wlhn reproduce`")
    page = out.with_suffix(".html") if html else None
    if page == out:
        raise InputError(f"{out}: is where the page goes; give --out a name that ends in .md")
    write_report(results, out, table or (), page)
    if json:
        print_json({"out": str(out), "html": page})
    else:
        typer.echo(f"Written to {out}" + ("" if page is None else f" and {page}"))
