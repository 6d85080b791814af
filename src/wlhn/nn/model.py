"""What a model is: a PyTorch module that owns its options and is made for given widths of data.

    MyModel(in_channels, out_channels, *, level, edge_channels, **options)

The options are the fields of its `Options`; the attribute `options` holds them. `forward` is PyG's. What else a model
can do is said by small protocols (`wlhn.nn.capabilities`), never by its class.
"""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any, ClassVar, get_type_hints

from torch import Tensor, nn

from wlhn.data.dataset import TargetLevel
from wlhn.errors import InputError
from wlhn.nn.encoders import Channels, check_width
from wlhn.options.network import NetworkOptions
from wlhn.options.option import Options, about_options, named_fields, unknown_option
from wlhn.options.training import InputOptions, TrainingOptions


class Model(nn.Module):
    """The base of all models.

    Args:
        in_channels: number of node features, or the sizes of categorical columns (then x holds integers).
        out_channels: classes, tasks or targets.
        level: "graph" for an output of each graph, "node" for one of each node.
        edge_channels: number of edge features, or the sizes of categorical columns; 0 for none.
        options: values of the fields of `Options`.
    """

    Options: ClassVar[type[Options]] = NetworkOptions
    Training: ClassVar[type[InputOptions]] = TrainingOptions  # what can be said of its training
    target_levels: ClassVar[tuple[TargetLevel, ...]] = ("graph", "node")
    colour_levels: ClassVar[tuple[TargetLevel, ...]] = ("graph", "node")  # where it runs on colours, if it can
    sees_edges: ClassVar[bool] = False  # whether it uses edge features

    def __init__(
        self,
        in_channels: Channels,
        out_channels: int,
        *,
        level: TargetLevel = "graph",
        edge_channels: Channels = 0,
        **options: Any,
    ) -> None:
        super().__init__()
        known = named_fields(self.Options)
        for option in options:
            if option not in known:
                raise unknown_option(type(self).__name__, option, ["level", "edge_channels", *known])
        if edge_channels and not self.sees_edges:
            name = type(self).__name__
            raise InputError(f"{name} does not use features of edges; leave edge_features and directed out")
        if out_channels < 1:
            raise InputError(f"out_channels: must be 1 or more, found {out_channels}")
        self.in_channels, self.out_channels, self.level = in_channels, out_channels, level
        self.edge_channels = edge_channels
        self.options: Any = self.Options(**options)

    def __init_subclass__(cls, **keywords: Any) -> None:
        """A signature and a docstring that name the options, for `help` and editors."""
        super().__init_subclass__(**keywords)
        given = inspect.signature(Model.__init__).parameters
        first = [p for name, p in given.items() if name not in ("self", "options")]
        cls.__signature__ = inspect.Signature([*first, *option_parameters(cls.Options)])  # type: ignore[attr-defined]
        if cls.__doc__ and fields(cls.Options):
            cls.__doc__ = f"{inspect.cleandoc(cls.__doc__)}\n\nOptions:\n{described(cls.Options)}\n"

    @classmethod
    def about(cls) -> str:
        """The first line of its docstring."""
        return (cls.__doc__ or cls.__name__).strip().splitlines()[0]

    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None, edge_attr: Tensor | None = None
    ) -> Tensor:
        """Outputs (graphs or nodes, out_channels) from PyG tensors.

        Args:
            x: features of nodes, (nodes, in_channels).
            edge_index: source and target of each edge, (2, edges).
            batch: the graph of each node, rising from 0, (nodes,); one graph without it.
            edge_attr: features of edges, (edges, edge_channels).
        """
        raise TypeError(f"{type(self).__name__} does not define forward")

    def check_inputs(self, x: Tensor, edge_attr: Tensor | None) -> None:
        """What `forward` is given is what the model was made for, or an `InputError`."""
        check_width(x, self.in_channels)
        if edge_attr is not None and not self.edge_channels:
            name = type(self).__name__
            made = "make it with edge_channels=, or leave edge_attr out" if self.sees_edges else "leave it out"
            raise InputError(f"edge_attr: this {name} was made without features of edges; {made}")
        if edge_attr is None and self.edge_channels:
            raise InputError(f"edge_attr: is missing; this {type(self).__name__} was made with features of edges")


def option_parameters(options: type[Options]) -> list[inspect.Parameter]:
    """The fields of an options class as keyword parameters."""
    hints, kind = get_type_hints(options), inspect.Parameter.KEYWORD_ONLY
    return [inspect.Parameter(f.name, kind, default=f.default, annotation=hints[f.name]) for f in fields(options)]


def described(options: type[Options]) -> str:
    """One line for each field of an options class, as docstrings have it."""
    return "\n".join(f"    {each.name}: {each.about} Default {each.default!r}." for each in about_options(options))
