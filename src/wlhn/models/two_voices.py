"""Two voices: a WLHN and a machine on the tree that it computes on, fitted apart, heard together.

The network knows what features and neighbourhoods mean, the machine which colours were there; they err differently. The
network is trained as ever; when its best epoch is known, a machine is fitted on the same training items. Its depth (up
to the network's) and penalty are those with the least loss on held-out items: the training items, fold by fold, or the
validation items. Each voice is calibrated (`wlhn.models.machines.calibration`), the machine on those same items, the
network on the validation items:

    output = (1 − w) s_network z_network + w s_machine z_machine.

So a voice that is confident with good reason counts for more. The share w of the machine is given, or chosen on the
validation items.

The voice of the network may be an ensemble: the mean over networks that differ in nothing but what was drawn for them
(Lakshminarayanan et al., "Simple and scalable predictive uncertainty estimation using deep ensembles", NeurIPS 2017).
Each is trained, and stopped, for itself; points and representations are those of the first.

Where nodes carry measured numbers no two have the same colour. The machine may then see clusters of them instead, while
the network sees the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from wlhn.batching.colour_batch import ColourBatch
from wlhn.errors import InputError
from wlhn.models.machines.beside_network import MachineBesideNetwork, PartOfTraining, TreeMachineName
from wlhn.models.machines.calibration import FURTHEST, Loss, calibration
from wlhn.models.machines.clusters import Clusters, rows_of_nodes
from wlhn.models.machines.shared_fits import LearnedFrom, chosen_once
from wlhn.models.wlhn import WLHN, WLHNOptions
from wlhn.nn.encoders import Channels
from wlhn.nn.machine import known_targets, of_each_target
from wlhn.nn.memory import shaped, within
from wlhn.nn.model import Model
from wlhn.nn.tree_machine import TreeMachine
from wlhn.ops.level import Points
from wlhn.options.option import option
from wlhn.options.training import ClassWeights

WEIGHTS = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9, 0.0)  # of equally good ones, the first
TREE = "tree_voice."
CLUSTERS = "clusters."
NUMBERS = ("svm_penalty", "tree_weight", "network_scale", "machine_scale")
LARGEST = math.exp(FURTHEST)  # of these
CHOSEN = ("rounds", *NUMBERS)  # beside what the machine itself remembers


@dataclass(frozen=True)
class TwoVoicesOptions(WLHNOptions):
    num_networks: int = option(
        1,
        "Networks, trained independently, whose outputs are averaged; training takes as many times longer.",
        at_least=1,
    )
    tree_machine: TreeMachineName = option("wl-oa", "The machine on the tree; wl-linear where graphs are many.")
    tree_clusters: int = option(
        0,
        "Clusters (k-means) of nodes' numeric features, which the machine sees instead of the numbers; 0: it sees what "
        "the network sees.",
        at_least=0,
    )
    tree_coarse: bool = option(
        False,
        "Whether a wl-linear machine counts colours of a coarser tree as well: see its option `coarse`.",
    )
    tree_folds: int = option(
        5,
        "Folds of the training items by which the machine's depth and penalty are chosen; 0: by the validation items, "
        "which is quicker.",
        at_least=0,
    )
    tree_weight: float = option(
        0.5, "Share of the machine in the answer; the network has the rest.", at_least=0, below=1
    )
    choose_weight: bool = option(
        False, "Whether the machine's share is the best on the validation items, from 0 to 0.9, and not `tree_weight`."
    )


class Voice(nn.Module):
    """One part of a model, as a model; `parts` are the modules that it runs."""

    def __init__(self, run_on_colours: Callable[[ColourBatch], Tensor], parts: nn.Module) -> None:
        super().__init__()
        self.run_on_colours, self.parts = run_on_colours, parts


class TwoVoices(Model):
    """A WLHN and a kernel machine on the same tree, averaged."""

    Options = TwoVoicesOptions
    target_levels = ("graph",)
    sees_edges = True

    def __init__(self, in_channels: Channels, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        if self.options.tree_folds == 1:
            raise InputError("tree_folds: must be 0, or 2 or more, found 1")
        if self.options.tree_coarse and self.options.tree_machine != "wl-linear":
            raise InputError(f"tree_coarse: is for wl-linear alone, found tree_machine={self.options.tree_machine}")
        of_network = {field.name: getattr(self.options, field.name) for field in fields(WLHNOptions)}
        self.networks = nn.ModuleList(
            WLHN(in_channels, out_channels, edge_channels=self.edge_channels, **of_network)
            for _ in range(self.options.num_networks)
        )
        self.machine: TreeMachine | None = None
        self.clusters: Clusters | None = None
        self.svm_penalty, self.tree_weight = 1.0, self.options.tree_weight
        self.network_scale = self.machine_scale = 1.0

    def run_on_colours(self, batch: ColourBatch) -> Tensor:
        """Outputs (graphs, out_channels): the networks' while they are trained, then those of both voices."""
        network = self._mean_of_networks(batch)
        if self.machine is None or self.training:
            return network
        return self._together(network, self.machine.run_on_colours(self.seen_by_machine(batch)), self.tree_weight)

    def levels(self, batch: ColourBatch) -> Iterator[tuple[Points, Tensor]]:
        """The first network's points and features, depth by depth."""
        return self._first.levels(batch)

    def graph_representation(self, batch: ColourBatch) -> Tensor:
        """The first network's, (graphs, width)."""
        return self._first.graph_representation(batch)

    def voices(self) -> dict[str, nn.Module]:
        """Each of the two alone, as a model that runs on colours."""
        machine = self.machine
        voices: dict[str, nn.Module] = {"network": Voice(self._mean_of_networks, self.networks)}
        if machine is not None:
            voices["machine"] = Voice(lambda batch: machine.run_on_colours(self.seen_by_machine(batch)), machine)
        return voices

    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None, edge_attr: Tensor | None = None
    ) -> Tensor:
        network = torch.stack([each(x, edge_index, batch, edge_attr) for each in self.networks]).mean(dim=0)
        if self.machine is None or self.training:
            return network
        seen = x if self.clusters is None else self.clusters.encode(x)
        return self._together(network, self.machine(seen, edge_index, batch, edge_attr), self.tree_weight)

    def check_targets(self, y: Tensor, task: str) -> None:
        """A machine can learn from these targets; said before the network is trained."""
        for column in of_each_target(y.numpy(), task):
            known_targets(column, task)

    def fit_afterwards(
        self,
        train: ColourBatch,
        valid: ColourBatch,
        *,
        y: Tensor,
        valid_y: Tensor,
        task: str,
        part: PartOfTraining,
        loss: Loss,
        score: Callable[[Tensor], float],
        class_weights: ClassWeights,
    ) -> dict[str, float]:
        """Fit the machine beside the trained networks, and say what was chosen: its rounds, penalty and weight.

        Args:
            train: the training items, as deep as the network.
            valid: the validation items.
            y: targets of the training items.
            valid_y: targets of the validation items.
            task: as `wlhn.training.loss` has it.
            part: makes a batch of some of the training items.
            loss: of outputs for some items, given their targets.
            score: how good outputs for the validation items are; more is better.
            class_weights: how much more items of rare classes weigh for the machine, as they did for the networks.
        """
        self.machine = self.clusters = None
        with torch.no_grad():
            network = self._mean_of_networks(valid)
        if self.options.tree_clusters:
            self.clusters = Clusters.fit(rows_of_nodes(train), self.options.tree_clusters)
        asked = LearnedFrom(train, valid, y, valid_y, task, (*self._kind_of_machine, class_weights))
        depth, folds = self.options.num_layers, self.options.tree_folds
        chosen = chosen_once(asked, lambda: self._beside.choose(asked, depth, folds, part, loss, class_weights))
        self.machine = copy(chosen.machine)  # others have it too, and it changes when it is asked what it remembers
        self.svm_penalty, self.machine_scale = chosen.penalty, chosen.scale
        self.network_scale = calibration(network, valid_y, loss)
        self.tree_weight = self.options.tree_weight
        if self.options.choose_weight:
            said = self.machine.run_on_colours(self.seen_by_machine(valid))
            self.tree_weight = max(WEIGHTS, key=lambda weight: score(self._together(network, said, weight)))
        numbers = {name: getattr(self, name) for name in ("svm_penalty", "tree_weight")}
        return {"rounds": self.machine.options.rounds, **numbers}

    @property
    def _first(self) -> WLHN:
        return cast(WLHN, self.networks[0])

    def _mean_of_networks(self, batch: ColourBatch) -> Tensor:
        return torch.stack([cast(WLHN, network).run_on_colours(batch) for network in self.networks]).mean(dim=0)

    @property
    def _beside(self) -> MachineBesideNetwork:
        options = self.options
        channels = self.in_channels, self.edge_channels, self.out_channels
        return MachineBesideNetwork(options.tree_machine, options.tree_coarse, *channels, self.clusters)

    @property
    def _kind_of_machine(self) -> tuple[Any, ...]:
        options = self.options
        kind = options.tree_machine, options.tree_clusters, options.tree_coarse, options.num_layers, options.tree_folds
        return *kind, self.out_channels

    def seen_by_machine(self, batch: ColourBatch) -> ColourBatch:
        """The batch, or the same graphs with clusters for numbers."""
        return self._beside.seen(batch)

    def _together(self, network: Tensor, tree: Tensor, weight: float) -> Tensor:
        share, machine_share = self.shares(weight)
        return share * network + machine_share * tree.to(network.dtype)

    def shares(self, weight: float | None = None) -> tuple[float, float]:
        """How much of the networks' mean output, and of the machine's output, is in the answer; with another weight,
        would be."""
        w = self.tree_weight if weight is None else weight
        return (1 - w) * self.network_scale, w * self.machine_scale

    def outputs_of_decisions(self) -> tuple[Any, Any]:
        """(constant (outputs,), slope (machines, outputs)) of the machine's outputs as a function of its decision
        values."""
        assert self.machine is not None
        machines = len(self.machine.memory["intercept"])
        outputs = self.machine.answers(np.concatenate([np.zeros((1, machines)), np.eye(machines)])).double().numpy()
        return outputs[0], outputs[1:] - outputs[0]

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        state = dict(super().state_dict(*args, **kwargs))
        if self.machine is not None:
            numbers = {name: torch.tensor(getattr(self, name), dtype=torch.float64) for name in NUMBERS}
            numbers |= {"rounds": torch.tensor(self.machine.options.rounds)}
            if self.clusters is not None:
                numbers |= {CLUSTERS + name: tensor for name, tensor in self.clusters.to_tensors().items()}
            state |= {TREE + name: tensor for name, tensor in (self.machine.state_dict() | numbers).items()}
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """The network's weights and, where it was fitted, the machine."""
        tree = {name.removeprefix(TREE): part for name, part in state_dict.items() if name.startswith(TREE)}
        self.machine = self.clusters = None
        if tree:
            try:
                self.machine = self._fitted_machine(tree)
                for name in NUMBERS:
                    setattr(self, name, float(tree[name]))
            except InputError as error:
                raise InputError(f"{TREE}{error}") from None
        network = {name: part for name, part in state_dict.items() if not name.startswith(TREE)}
        return super().load_state_dict(network, strict, assign)

    def _fitted_machine(self, state: Mapping[str, Tensor]) -> TreeMachine:
        """The machine from a state that may come from anywhere."""
        for name in CHOSEN:
            if name not in state:
                raise InputError(f"{name}: is missing")
        within("rounds", shaped("rounds", state["rounds"], ()), 0, self.options.num_layers + 1)
        for name in NUMBERS:
            if not 0 <= float(shaped(name, state[name], (), (torch.float64,))) <= LARGEST:
                raise InputError(f"{name}: must be from 0 to {LARGEST:.0f}, found {float(state[name])}")
        if not float(state["tree_weight"]) < 1:
            raise InputError(f"tree_weight: must be below 1, found {float(state['tree_weight'])}")
        clusters = {name.removeprefix(CLUSTERS): part for name, part in state.items() if name.startswith(CLUSTERS)}
        if clusters:
            if not isinstance(self.in_channels, int):
                raise InputError("clusters: are of numbers, but the nodes of this model have categories")
            self.clusters = Clusters.from_tensors(clusters, self.in_channels)
        machine = self._beside.made(int(state["rounds"]), 1.0)  # the penalty was for learning
        known = {name: part for name, part in state.items() if name not in CHOSEN and not name.startswith(CLUSTERS)}
        machine.load_state_dict(known)
        return machine
