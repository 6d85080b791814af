"""`wlhn explore`: one page to look at colours, graphs and a model's answers, without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wlhn.cli.common.options import with_flags
from wlhn.cli.common.output import Json, print_json
from wlhn.cli.common.reading import DataFlags
from wlhn.errors import InputError


@with_flags
def explore(
    what: Annotated[str, typer.Argument(metavar="RUN|DATA", help="A run folder of `wlhn train`, or data.")],
    *,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("explorer.html"),
    data: Annotated[
        str | None, typer.Option(help="With a run: data to show.", show_default="what it was trained on")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=0, help="Without a run: rounds of refinement.", show_default="3")
    ] = None,
    colours: Annotated[
        int, typer.Option(min=1, help="At most this many colours on the page, the most frequent first.")
    ] = 10_000,
    reading: DataFlags,
    json: Json = False,
) -> None:
    """Write a self-contained page: the colour tree in the Poincaré disc, the graphs, and what a model says of them."""
    from wlhn.inspection.explorer import explorer_document
    from wlhn.report.explorer import write_page
    from wlhn.runs.run_folder import is_run, load_run, read_config

    if out.suffix != ".html":
        raise InputError(f"{out}: the name must end in .html")
    trained = load_run(Path(what)) if is_run(Path(what)) else None
    if trained is not None and rounds is not None:
        raise InputError(f"--rounds {rounds}: the run in {what} has its own depth; leave --rounds out")
    if trained is None and data is not None:
        raise InputError(f"{what}: no finished run here; --data goes with a run, so leave it out or name one")
    name = what if trained is None else data or str(read_config(Path(what)).get("data", ""))
    if not name:
        raise InputError(f"{what}: does not say what it was trained on; name the data with --data")
    dataset = reading.load_like(name, () if trained is None else trained.columns)
    document = explorer_document(dataset, trained, 3 if rounds is None else rounds, colours)
    write_page(document, out)
    if json:
        print_json({"out": str(out), "colours": len(document["colours"]["x"]), "notes": document["notes"]})
        return
    for note in document["notes"]:
        typer.echo(note)
    typer.echo(f"Written to {out} ({out.stat().st_size / 1e6:.1f} MB); open it in a browser.")
