"""`wlhn models`: which models there are, and what each can be told."""

from __future__ import annotations

from typing import Annotated

import typer

from wlhn.cli.common import options
from wlhn.cli.common.output import Json, print_json, print_table


def models(
    model: Annotated[str | None, typer.Argument(help="A model by name; without it, all are listed.")] = None,
    plugin: options.Plugin = None,
    json: Json = False,
) -> None:
    """List the models, or the options of one with their defaults."""
    from wlhn.models.registry import MODELS, model_class
    from wlhn.options.option import about_options
    from wlhn.training.settings import option_classes

    options.load_plugins(plugin)
    if model is None:
        rows = [
            {"model": name, "about": model_class(name).about(), "predicts": list(model_class(name).target_levels)}
            for name in MODELS.names()
        ]
        if json:
            print_json(rows)
        else:
            for row in rows:
                typer.echo(f"{row['model']:<22} {row['about']}")
        return
    described = [each for owner in option_classes(model) for each in about_options(owner)]
    if json:
        print_json(described)
        return
    print_table(
        f"{model}: {model_class(model).about()}",
        ("option", "default", "values", "what it is"),
        [(each.name, str(each.default), each.values, each.about) for each in described],
    )
