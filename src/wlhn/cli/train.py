"""`wlhn train`, `wlhn models`: one model, one folder, and a summary in plain words; which models there are."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wlhn.cli.common import options
from wlhn.cli.common.options import DataFlags
from wlhn.cli.common.output import Json, print_classes, print_json, print_table, progress, scores_in_a_line
from wlhn.errors import InputError
from wlhn.words import counted, listed

if TYPE_CHECKING:
    from wlhn.runs.train import TrainedRun
    from wlhn.training.network_run import Epoch
    from wlhn.training.settings import Settings


@options.with_flags
def train(
    data: Annotated[str, typer.Argument(help="A known name or a path; without it, built-in MUTAG.")] = "MUTAG",
    *,
    flags: options.ModelFlags,
    out: Annotated[Path | None, typer.Option(help="The run folder.", show_default="runs/DATA-MODEL-1, -2, …")] = None,
    split: Annotated[int | None, typer.Option(min=0, help="Use the published split with this number, from 0.")] = None,
    threads: Annotated[
        int, typer.Option(min=1, help="Threads; more are faster on large data and change the last bits of numbers.")
    ] = 1,
    workers: Annotated[
        int, typer.Option(min=1, help="Processes that share each batch, on a Ray cluster; the step stays the same.")
    ] = 1,
    address: options.Address = None,
    device: Annotated[
        str, typer.Option(help="cpu or cuda; with workers, a GPU each. On a GPU numbers are not the same bit for bit.")
    ] = "cpu",
    portable: options.Portable = False,
    log: options.Log = None,
    reading: DataFlags,
    json: Json = False,
) -> None:
    """Train one model and keep it in a run folder; a run that was interrupted goes on in the same folder."""
    given = flags.given()
    from wlhn.loops.parallel import torch_threads
    from wlhn.models.registry import MODELS
    from wlhn.runs.logging import Logger, make_logger
    from wlhn.runs.train import train as train_run
    from wlhn.training.settings import Settings

    if address is not None and workers == 1:
        raise InputError(f"--address {address} is that of a Ray cluster, which --workers 2 or more would use")
    settings = Settings.of(flags.model, **given)
    dataset = reading.load_with_notes(data, directed=settings.training.directed or None)
    chosen = None
    if split is not None:
        if split >= len(dataset.splits):
            raise InputError(f"--split {split}: {dataset.name} came with {counted(len(dataset.splits), 'split')}")
        chosen = dataset.splits[split]
    if not json and dataset.task != "none":  # without targets there is an error to come, and nothing to announce
        typer.echo(f"{dataset.name}: {dataset.level} {dataset.task}, {dataset.graphs!r}; training {settings.model}")
        typer.echo(dataset.summary)
        edges = [each.name for each in dataset.columns if each.edge and each.role in ("feature", "category")]
        if edges and not settings.training.edge_features:
            without = " without --edge-features" if MODELS[settings.model].sees_edges else ""
            typer.echo(f"Columns of edges that {settings.model} does not see{without}: {', '.join(edges)}")
    epochs = getattr(settings.training, "epochs", 1) * getattr(settings.options, "num_networks", 1)
    with torch_threads(threads), progress("training", "epoch") as advance:

        def show(epoch: Epoch) -> None:
            advance(epoch.epoch, epochs, f"loss {epoch.train_loss:.3f}, validation {epoch.valid_metric:.3f}")

        run = train_run(
            dataset,
            settings,
            out,
            split=chosen,
            seed=reading.seed,
            workers=workers,
            address=address,
            device=device,
            on_epoch=show,
            draw=_draw,
            log=lambda folder: Logger() if log is None else make_logger(log, folder, folder.name),
        )
    if json:
        print_json({"run": str(run.folder), **run.about, "settings": settings.to_json()})
    else:
        _summarise(run, [data, *["--skip-invalid"] * reading.skip_invalid], settings)


def _draw(run: TrainedRun) -> None:
    """The learning curve, and, where there are classes, which was taken for which."""
    from wlhn.report.svg import confusion_matrix, learning_curve

    history = run.fitted.runs[0].epochs  # of several networks, the first
    learning_curve(
        train_loss=[epoch.train_loss for epoch in history],
        valid_loss=[epoch.valid_loss for epoch in history],
        valid_metric=[epoch.valid_metric for epoch in history],
        metric=run.about["metric"],
        best_epoch=run.fitted.best.epoch,
        path=run.folder / "learning-curve.svg",
    )
    if run.test is not None and run.test.classes:
        names = [each.name for each in run.test.classes]
        confusion_matrix(run.test.confusion, names, run.folder / "confusion.svg", title="test items")


def _summarise(run: TrainedRun, data: list[str], settings: Settings) -> None:
    from wlhn.training.metrics import METRICS

    about, metric, items = run.about, run.about["metric"], f"{run.trained.level}s"
    sizes, scores, numbers = about["split"], about["scores"], about["numerics"]
    for warning in about["warnings"]:
        typer.echo(f"Warning: {warning}.")
    if about["unlabelled"]:
        seen = "the model sees them as neighbours, and" if run.trained.level == "node" else "the model"
        typer.echo(f"{about['unlabelled']} {items} have no target: {seen} can answer for them too.")
    typer.echo(
        f"\n{sizes['train']} {items} to learn from, {sizes['valid']} to decide when to stop, "
        f"{sizes['test']} to test on."
    )
    best = [str(each.best.epoch) for each in run.fitted.runs]
    typer.echo(
        f"{settings.model} was trained for {counted(about['epochs'], 'epoch')} in {about['seconds']:.1f} s; "
        + (f"epoch {best[0]} was the best" if len(best) == 1 else f"{listed(best)} were its networks' best epochs")
        + f" on the validation {items}."
    )
    if scores["test"] is not None:
        line = f"Test {METRICS[metric].name}: {METRICS[metric].shown(scores['test'])}"
        if metric == "accuracy":
            line += f" ({round(scores['test'] * sizes['test'])} of {sizes['test']} {items} right)"
        if scores["constant_answer"] is not None:
            score = METRICS[metric].shown(scores["constant_answer"])
            line += f"; always answering {about['constant_answer']} would score {score}"
        typer.echo(f"{line}.")
    if voices := [f"the {name} {METRICS[metric].shown(score)}" for name, score in about["voices"].items()]:
        typer.echo(f"Alone: {listed(voices)}.")
    if run.test is not None:
        if more := scores_in_a_line(run.test, without=metric):
            typer.echo(f"Also: {more}.")
        print_classes(run.test, f"test {items}")
    if numbers["first_nan"] is not None:
        typer.echo(
            f"Warning: numbers broke down at {numbers['first_nan']}; the model is that of the best epoch before."
        )
    elif numbers["largest_radius"] is not None:
        typer.echo(
            f"All numbers stayed finite: points lie up to {numbers['largest_radius']:.1f} from the root, and "
            f"{100 * numbers['dead_rows']:.1f} % of nodes have features that are all zero at some depth."
        )
    typer.echo(
        f"\nThe run is kept in {run.folder} (README.md is its model card, learning-curve.svg shows how training went). "
        "To use it:"
    )
    typer.echo(f"  {shlex.join(['wlhn', 'predict', str(run.folder), *data, '--out', 'predictions.csv'])}")


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
