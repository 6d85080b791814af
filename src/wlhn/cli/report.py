"""`wlhn report`: what was reproduced, beside what was published."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wlhn.cli.common.output import Json, print_json
from wlhn.errors import InputError


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
    from wlhn.experiments.pages import write_report

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
