"""What the JSON documents of a run say, each field checked by itself and against the others."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import torch
from torch import Tensor

from wlhn.data.dataset import Column, Role, TargetLevel, Task
from wlhn.data.features import Encoding
from wlhn.data.gaps import Filling
from wlhn.data.vocabulary import Columns, Vocabulary
from wlhn.errors import InputError
from wlhn.files import read_json
from wlhn.hierarchy.binning import KMeans, Quantiles
from wlhn.options.training import Degree
from wlhn.runs.fields import Fields, list_of, number, one_of, rising, rising_numbers, scalar, text, whole
from wlhn.runs.trained import TrainedConfig
from wlhn.training.settings import Settings


def checked_config(where: Path, document: dict[str, Any]) -> TrainedConfig:
    """The fields of config.json, or an `InputError` that names the first that is wrong."""
    config = Fields(str(where), document)
    try:
        settings = Settings.from_json(config.inside("settings").values)
    except InputError as error:
        raise InputError(f"{where}, settings: {error}") from None
    task = config.get("task", f"one of {', '.join(get_args(Task))}", one_of(*get_args(Task)))
    outputs = config.get("out_channels", "a whole number, 1 or more", lambda v: whole(v, 1))
    length = outputs if task == "classification" else 0
    classes = config.get("classes", f"a list of {length} names", list_of(scalar, length))
    targets = config.get("targets", "a list of names, one for each output", list_of(text))
    if len(targets) not in ((0, 1) if task == "classification" else (0, outputs)):
        raise config.wrong("targets", f"a list of names, one for each of {outputs} outputs")
    shift, scale = (_per_output(config, name, outputs) for name in ("shift", "scale"))
    if shift.shape != scale.shape or not bool((scale > 0).all()):
        raise config.wrong("scale", "above 0, and as many numbers as in shift")
    return TrainedConfig(
        settings=settings,
        level=config.get("level", "graph or node", one_of(*get_args(TargetLevel))),
        task=task,
        classes=tuple(classes),
        targets=tuple(targets),
        out_channels=outputs,
        columns=tuple(_column(column) for column in config.each("columns")),
        shift=shift,
        scale=scale,
    )


def _per_output(config: Fields, name: str, outputs: int) -> Tensor:
    holds = list_of(number, outputs)
    value = torch.tensor(config.get(name, f"a number, or {outputs} of them", lambda v: number(v) or holds(v)))
    value = value if value.is_floating_point() else value.float()
    if not bool(value.isfinite().all()):
        raise config.wrong(name, "a number of moderate size")
    return value


def _column(column: Fields) -> Column:
    roles = get_args(Role)
    known = [each.name for each in fields(Column)]
    if stranger := next((name for name in column.values if name not in known), None):
        raise InputError(f"{column.where}: a column has no field '{stranger}'")
    return Column(
        name=column.get("name", "a text", text),
        role=column.get("role", f"one of {', '.join(roles)}", one_of(*roles)),
        kind=column.get("kind", "a text", text),
        detail=column.get("detail", "a text", text),
        values=tuple(column.get("values", "a list of texts and numbers", list_of(scalar))),
        edge=column.get("edge", "true or false", lambda v: isinstance(v, bool)),
        missing=column.get("missing", "a text", text) if "missing" in column.values else "",
    )


def read_vocabulary(path: Path, settings: Settings) -> Vocabulary:
    """The vocabulary of a run with these settings."""
    document = Fields(str(path), read_json(path))
    nodes, columns = _encoding(document.inside("nodes")), _columns(document.inside("columns"))
    _check_width(document.inside("columns"), nodes, columns)
    edges = document.get("edges", "labels, features or null", one_of(None, "labels", "features"))
    if (edges is not None) != settings.training.edge_features:
        raise document.wrong("edges", "there if, and only if, the model sees edges (edge_features in config.json)")
    if (nodes.bins is not None) != (settings.training.binning != "none"):
        raise document.wrong("nodes", "with bins if, and only if, config.json says so (binning)")
    directed = document.values.get("directed", False)  # runs of before there was such a thing have none
    if directed is not settings.training.directed:
        raise document.wrong("directed", "what config.json says")
    if edges is None:
        for name in ("edge_columns", "edge_filling"):
            if document.values.get(name) is not None:
                raise document.wrong(name, "null without edges")
        return Vocabulary(nodes, columns, directed=directed)
    of_edges = document.inside("edge_columns")
    edge_columns = _columns(of_edges)
    if edges == "labels" and (edge_columns.known is None or edge_columns.width != 1):
        raise of_edges.wrong("known", "the labels that edges have, in one column")
    edge_filling = _filling(document, "edge_filling")
    if edge_filling is not None and len(edge_filling.means) + len(edge_filling.gaps) != edge_columns.width:
        raise document.wrong("edge_filling", "means and gaps of as many columns as edge_columns has")
    return Vocabulary(nodes, columns, edges, edge_columns, edge_filling, directed)


def _filling(document: Fields, name: str) -> Filling | None:
    """What stands in for missing numbers; runs of before there was such a thing have none."""
    if document.values.get(name) is None:
        return None
    filling = document.inside(name)
    means = filling.get("means", "a list of numbers", list_of(number))
    gaps = filling.get("gaps", "rising positions of columns", rising)
    if gaps and not 0 <= gaps[0] <= gaps[-1] < len(means):
        raise filling.wrong("gaps", f"from 0 to {len(means) - 1}")
    return Filling(tuple(map(float, means)), tuple(gaps))


def _encoding(nodes: Fields) -> Encoding:
    degrees = get_args(Degree)
    inputs = nodes.get("inputs", "some of label and x", list_of(one_of("label", "x")))
    if len(set(inputs)) < len(inputs):
        raise nodes.wrong("inputs", "without repetitions")
    filling = _filling(nodes, "filling")
    return Encoding(
        inputs=tuple(inputs),
        degree=nodes.get("degree", f"one of {', '.join(degrees)}", one_of(*degrees)),
        label_values=tuple(nodes.get("label_values", "rising whole numbers", rising)),
        max_degree=nodes.get("max_degree", "a whole number, 0 or more", whole),
        categories=tuple(nodes.get("categories", "a list of whole numbers", list_of(whole))),
        filling=filling,
        quantiles=_quantiles(nodes, filling),
        clusters=_clusters(nodes, filling),
    )


def _quantiles(nodes: Fields, filling: Filling | None) -> Quantiles | None:
    """Bins of each column; without binning, null, and runs of before there was such a thing say nothing of it."""
    if nodes.values.get("quantiles") is None:
        return None
    columns = _filled_columns(nodes, "quantiles", filling)
    edges = nodes.inside("quantiles").get(
        "edges", f"{columns} lists of rising numbers", list_of(rising_numbers, columns)
    )
    return Quantiles(tuple(tuple(map(float, each)) for each in edges))


def _clusters(nodes: Fields, filling: Filling | None) -> KMeans | None:
    """Clusters of rows, likewise."""
    if nodes.values.get("clusters") is None:
        return None
    columns, fields = _filled_columns(nodes, "clusters", filling), nodes.inside("clusters")
    centres = fields.get("centres", f"lists of {columns} numbers", list_of(list_of(number, columns)))
    deviation = fields.get("deviation", f"{columns} numbers", list_of(number, columns))
    if not centres or not all(each > 0 for each in deviation):
        raise nodes.wrong("clusters", "one or more, with deviations above 0")
    return KMeans(tuple(tuple(map(float, each)) for each in centres), tuple(map(float, deviation)))


def _filled_columns(nodes: Fields, name: str, filling: Filling | None) -> int:
    """How many columns of numbers there are to put into bins."""
    other = "clusters" if name == "quantiles" else "quantiles"
    if filling is None or nodes.values.get(other) is not None:
        raise nodes.wrong(name, f"null without numbers to put into bins, or beside {other}")
    return len(filling.means) + len(filling.gaps)


def _columns(columns: Fields) -> Columns:
    width = columns.get("width", "a whole number, 0 or more", whole)
    lists = list_of(rising, width)
    known = columns.get("known", f"null or {width} lists of rising whole numbers", lambda v: v is None or lists(v))
    wanted = f"nothing, or {width} numbers"
    shift, scale = (
        columns.get(name, wanted, lambda v: v == [] or list_of(number, width)(v)) for name in ("shift", "scale")
    )
    if len(shift) != len(scale) or not all(value > 0 for value in scale):
        raise columns.wrong("scale", "above 0, and as many numbers as in shift")
    return Columns(width, None if known is None else tuple(map(tuple, known)), tuple(shift), tuple(scale))


def _check_width(where: Fields, nodes: Encoding, columns: Columns) -> None:
    """As many columns as the encoding of nodes gives."""
    categories = columns.known is not None
    if categories and ("x" not in nodes.inputs or nodes.filling is not None):
        raise where.wrong("known", "null, where nodes are not rows of categories")
    least = (1 if categories else len(nodes.label_values)) if "label" in nodes.inputs else 0
    if not nodes.inputs:
        least = nodes.max_degree + 1 if nodes.degree == "onehot" else 1
    if nodes.bins is not None:
        least += sum(nodes.bins.sizes)
    elif nodes.filling is not None:
        least += len(nodes.filling.means) + len(nodes.filling.gaps)
    exact = "x" not in nodes.inputs or nodes.filling is not None
    if columns.width < least or (exact and columns.width > least):
        raise where.wrong("width", f"{least}, as `nodes` has it")
