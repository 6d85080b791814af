"""What a model may be able to do beyond `forward`, as small protocols: anybody's model has the abilities it has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

from torch import Tensor, nn

from wlhn.batching.colour_batch import ColourBatch
from wlhn.errors import InputError
from wlhn.hierarchy import Hierarchy
from wlhn.nn.readout import Readout
from wlhn.ops.level import Points


@runtime_checkable
class RunsOnColours(Protocol):
    """Computes on colours with counts instead of nodes, with the same result: nodes of one colour are one row. Where
    it does, for graphs or nodes, is said by `Model.colour_levels`."""

    def run_on_colours(self, batch: ColourBatch) -> Tensor:
        """Outputs (graphs or nodes, out_channels)."""


@runtime_checkable
class HasPoints(RunsOnColours, Protocol):
    """Places the colours of every depth in hyperbolic space."""

    def levels(self, batch: ColourBatch) -> Iterator[tuple[Points, Tensor]]:
        """Depth by depth, the points of the colours and their features."""

    def graph_representation(self, batch: ColourBatch) -> Tensor:
        """What the head sees of each graph, (graphs, width)."""


@runtime_checkable
class SumsOverNodes(HasPoints, Protocol):
    """Its answer is what its head says of a sum over nodes, so it divides into what each colour adds."""

    head: nn.Module

    def rows(self, batch: ColourBatch) -> Tensor:
        """What the readout sees of each colour of the last depth, (rows, width)."""


@runtime_checkable
class SumsOverColours(Protocol):
    """Decides by sums over the colours of all depths (`wlhn.nn.tree_machine`), so these divide among colours."""

    def colour_parts(self, hierarchy: Hierarchy) -> tuple[Any, list[Any]]:
        """(what a graph without known colours gets, depth by depth what each colour of a single graph adds)."""

    def lead_of(self, wanted: int, rival: int | None) -> Any:
        """Which decision values, in which share, are an output, or its lead over another one."""


@runtime_checkable
class AnswersDepthByDepth(HasPoints, Protocol):
    """Can be applied to a large graph depth by depth, some rows at a time (`wlhn.runs.layerwise`)."""

    encoder: nn.Module
    head: nn.Module
    layers: nn.ModuleList
    readout: Readout

    def root(self, x: Tensor, weight: Tensor | None) -> tuple[Points, Tensor]:
        """Points and features of the colours of depth 0."""

    def place(
        self, t: int, h: Tensor, above: Points, parent: Tensor, child_ptr: Tensor | None, weight: Tensor | None
    ) -> Points:
        """Points of colours of depth t from their features and their parents' points."""


@runtime_checkable
class FittedInOneGo(Protocol):
    """Is not trained by gradients, epoch by epoch, but fitted in one go: see `wlhn.nn.machine.Machine.fit`."""

    def fit(self, *inputs: Any, **targets: Any) -> None:
        """Learn from graphs with targets."""


@runtime_checkable
class FitsAfterwards(Protocol):
    """Fits something beside its network once that is trained: see `wlhn.models.two_voices`."""

    def check_targets(self, y: Tensor, task: str) -> None:
        """What it fits afterwards can learn from these targets, or an `InputError`: asked before the training."""

    def fit_afterwards(self, train: ColourBatch, valid: ColourBatch, **given: Any) -> dict[str, float]:
        """Learn from training items and say what was chosen, by name. `given` are y, valid_y and task, part (a batch of
        some training items, by position), loss (of outputs and targets), score (of outputs for validation items) and
        class_weights (the option of training)."""


@runtime_checkable
class HasNetworks(FitsAfterwards, Protocol):
    """Is made of networks that are trained one after another, each until it stops, before anything is fitted beside
    them."""

    networks: nn.ModuleList


@runtime_checkable
class HasVoices(HasNetworks, Protocol):
    """Averages the answers of networks, each of which sums over nodes, and of a machine on the tree: see
    `wlhn.models.two_voices`."""

    machine: Any

    def voices(self) -> dict[str, nn.Module]:
        """Each of them alone, by name."""

    def seen_by_machine(self, batch: ColourBatch) -> ColourBatch:
        """A batch as the machine sees it."""

    def shares(self) -> tuple[float, float]:
        """How much of the networks' mean output, and of the machine's output, is in the answer."""

    def outputs_of_decisions(self) -> tuple[Any, Any]:
        """(constant, slope) of the machine's outputs as a function of its decision values."""


def networks_of(model: nn.Module) -> list[nn.Module]:
    """What is trained one after another: the networks of a model that says so, else the model itself."""
    return list(model.networks) if isinstance(model, HasNetworks) else [model]


def needs_points(model: Any, name: str) -> HasPoints:
    """A model that has points, or an `InputError`."""
    if not isinstance(model, HasPoints):
        raise InputError(f"{name} places nothing in hyperbolic space; train a model that does, as wlhn")
    return model
