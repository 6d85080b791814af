"""Two voices: a WLHN and a machine on the tree that it computes on, fitted apart, heard together.

The network knows what features and neighbourhoods mean, the machine which colours were there; they err differently. The
network is trained as ever; when its best epoch is known, a machine is fitted on the same training items, at the depth
(up to the network's) and penalty that are best on the validation items. Both have a say by outputs of equal deviation:

    output = (1 − w) z_network + w g z_machine,        g = deviation of z_network / deviation of z_machine,

deviations being those of the validation outputs, so answers stay in the network's units. For a classification, outputs
are taken less their mean over classes, which no answer depends on. The share w of the machine is given, or chosen on
the validation items too.

Where nodes carry measured numbers no two have the same colour. The machine may then see clusters of them instead, while
the network sees the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, fields
from itertools import product
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from wlhn.batching.colour_batch import ColourBatch
from wlhn.errors import InputError
from wlhn.models.machines.clusters import Clusters, rows_of_nodes
from wlhn.models.machines.shared_fits import FittedMachines, LearnedFrom, fitted_once
from wlhn.models.machines.subtree import WLOA, WLSVM
from wlhn.models.machines.wl_linear import WLLinear
from wlhn.models.wlhn import WLHN, WLHNOptions
from wlhn.nn.encoders import Channels
from wlhn.nn.machine import TASKS, known_targets, of_each_target
from wlhn.nn.memory import shaped, within
from wlhn.nn.model import Model
from wlhn.nn.tree_machine import TreeMachine
from wlhn.ops.level import Points
from wlhn.options.option import option

TREES: dict[str, type[TreeMachine]] = {"wl-oa": WLOA, "wl-svm": WLSVM, "wl-linear": WLLinear}
PENALTIES = (1.0, 0.1, 10.0, 100.0)  # of equally good ones, the first
LINEAR_PENALTIES = PENALTIES[:-1]  # the largest takes a linear machine minutes where graphs are many
WEIGHTS = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9, 0.0)  # of equally good ones, the first
SEED = 0  # of the machine, whatever the network's: all runs on a split have the same machine, fitted once
TREE = "tree_voice."
CLUSTERS = "clusters."
CHOSEN = ("rounds", "svm_penalty", "tree_weight", "gain")  # beside what the machine itself remembers


@dataclass(frozen=True)
class TwoVoicesOptions(WLHNOptions):
    tree_machine: Literal["wl-oa", "wl-svm", "wl-linear"] = option(
        "wl-oa", "The machine on the tree; wl-linear where graphs are many."
    )
    tree_clusters: int = option(
        0,
        "Clusters (k-means) of nodes' numeric features, which the machine sees instead of the numbers; 0: it sees what "
        "the network sees.",
        at_least=0,
    )
    tree_weight: float = option(
        0.5, "Share of the machine in the answer; the network has the rest.", at_least=0, below=1
    )
    choose_weight: bool = option(
        False, "Whether the machine's share is the best on the validation items, from 0 to 0.9, and not `tree_weight`."
    )


class Voice(nn.Module):
    """One part of a model, as a model."""

    def __init__(self, run_on_colours: Callable[[ColourBatch], Tensor]) -> None:
        super().__init__()
        self.run_on_colours = run_on_colours


class TwoVoices(Model):
    """A WLHN and a kernel machine on the same tree, averaged."""

    Options = TwoVoicesOptions
    target_levels = ("graph",)
    sees_edges = True

    def __init__(self, in_channels: Channels, out_channels: int, **keywords: Any) -> None:
        super().__init__(in_channels, out_channels, **keywords)
        of_network = {field.name: getattr(self.options, field.name) for field in fields(WLHNOptions)}
        self.network = WLHN(in_channels, out_channels, edge_channels=self.edge_channels, **of_network)
        self.machine: TreeMachine | None = None
        self.clusters: Clusters | None = None
        self.gain, self.penalty, self.weight = torch.ones(()), 1.0, self.options.tree_weight

    def run_on_colours(self, batch: ColourBatch) -> Tensor:
        """Outputs (graphs, out_channels): the network's while it is trained, then those of both."""
        network = self.network.run_on_colours(batch)
        if self.machine is None or self.training:
            return network
        return self._together(network, self.machine.run_on_colours(self.seen_by_machine(batch)), self.weight)

    def levels(self, batch: ColourBatch) -> Iterator[tuple[Points, Tensor]]:
        """The network's points and features, depth by depth."""
        return self.network.levels(batch)

    def graph_representation(self, batch: ColourBatch) -> Tensor:
        """The network's, (graphs, width)."""
        return self.network.graph_representation(batch)

    def voices(self) -> dict[str, nn.Module]:
        """Each of the two alone, as a model that runs on colours."""
        machine = self.machine
        if machine is None:
            return {"network": self.network}
        return {
            "network": self.network,
            "machine": Voice(lambda batch: machine.run_on_colours(self.seen_by_machine(batch))),
        }

    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None, edge_attr: Tensor | None = None
    ) -> Tensor:
        network = self.network(x, edge_index, batch, edge_attr)
        if self.machine is None or self.training:
            return network
        seen = x if self.clusters is None else self.clusters.encode(x)
        return self._together(network, self.machine(seen, edge_index, batch, edge_attr), self.weight)

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
        task: str,
        seed: int,
        score: Callable[[Tensor], float],
    ) -> dict[str, float]:
        """Fit the machine beside the trained network, and say what was chosen: its rounds, penalty and weight.

        Args:
            train: the training items, as deep as the network.
            valid: the validation items.
            y: targets of the training items.
            task: as `wlhn.training.loss` has it.
            seed: of the network, which the machine's does not follow (`SEED`).
            score: how good outputs for the validation items are; more is better.
        """
        self.machine = self.clusters = None
        with torch.no_grad():
            network = self.network.run_on_colours(valid)
        if self.options.tree_clusters:
            self.clusters = Clusters.fit(rows_of_nodes(train), self.options.tree_clusters)
        machines = self._fitted_machines(train, valid, y, task)
        machine, self.penalty, said = max(machines, key=lambda each: score(each[2]))
        self.machine = copy(machine)  # others have it too, and it changes when it is asked what it remembers
        self.gain = (_deviation(network, task) / _deviation(said, task).clamp_min(1e-12)).float()
        self.weight = self.options.tree_weight
        if self.options.choose_weight:
            self.weight = max(WEIGHTS, key=lambda weight: score(self._together(network, said, weight)))
        return {"rounds": self.machine.options.rounds, "svm_penalty": self.penalty, "tree_weight": self.weight}

    def _fitted_machines(self, train: ColourBatch, valid: ColourBatch, y: Tensor, task: str) -> FittedMachines:
        """A machine for each depth and penalty, the preferred of equally good ones first."""

        def fit() -> FittedMachines:
            seen, unseen = map(self.seen_by_machine, (train, valid))
            penalties = LINEAR_PENALTIES if self.options.tree_machine == "wl-linear" else PENALTIES
            machines = []
            for rounds, penalty in product(range(self.options.num_layers + 1), penalties):
                machine = self._machine(rounds, penalty)
                machine.fit_on_colours(seen, y=y, task=task, seed=SEED)
                machines.append((machine, penalty, machine.run_on_colours(unseen)))
            return machines

        kind = self.options.tree_machine, self.options.tree_clusters, self.options.num_layers
        return fitted_once(LearnedFrom(train, valid, y, task, kind), fit)

    def seen_by_machine(self, batch: ColourBatch) -> ColourBatch:
        """The batch, or the same graphs with clusters for numbers."""
        return batch if self.clusters is None else self.clusters.encode_batch(batch)

    def _machine(self, rounds: int, penalty: float) -> TreeMachine:
        kind, edges = TREES[self.options.tree_machine], self.edge_channels
        width = self.in_channels if self.clusters is None else self.clusters.width
        return kind(width, self.out_channels, edge_channels=edges, rounds=rounds, svm_penalty=penalty)

    def _together(self, network: Tensor, tree: Tensor, w: float) -> Tensor:
        return (1 - w) * self.centred(network) + w * self.gain * self.centred(tree).to(network.dtype)

    def shares(self) -> tuple[float, Any]:
        """How much of the network's, and of the machine's, centred outputs is in the answer."""
        return 1 - self.weight, self.weight * self.gain.double().numpy()

    def centred(self, outputs: Any) -> Any:
        """Outputs less their mean over classes; others as they are."""
        assert self.machine is not None
        return _centred(outputs, self.machine.task)

    def outputs_of_decisions(self) -> tuple[Any, Any] | None:
        """(constant (outputs,), slope (machines, outputs)) of the machine's outputs as a function of its decision
        values; None for machines that vote, pair by pair of three classes or more."""
        assert self.machine is not None
        if len(self.machine.classes) > 2 and self.machine.takes_votes:
            return None
        machines = len(self.machine.memory["intercept"])
        outputs = self.machine.answers(np.concatenate([np.zeros((1, machines)), np.eye(machines)])).double().numpy()
        return outputs[0], outputs[1:] - outputs[0]

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        state = dict(super().state_dict(*args, **kwargs))
        if self.machine is not None:
            chosen = {"svm_penalty": self.penalty, "tree_weight": self.weight}
            numbers = {name: torch.tensor(value, dtype=torch.float64) for name, value in chosen.items()}
            numbers |= {"rounds": torch.tensor(self.machine.options.rounds), "gain": self.gain}
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
                self.machine, self.gain = self._fitted_machine(tree)
                self.penalty, self.weight = float(tree["svm_penalty"]), float(tree["tree_weight"])
            except InputError as error:
                raise InputError(f"{TREE}{error}") from None
        network = {name: part for name, part in state_dict.items() if not name.startswith(TREE)}
        return super().load_state_dict(network, strict, assign)

    def _fitted_machine(self, state: Mapping[str, Tensor]) -> tuple[TreeMachine, Tensor]:
        """(machine, gain) from a state that may come from anywhere."""
        for name in CHOSEN:
            if name not in state:
                raise InputError(f"{name}: is missing")
        within("rounds", shaped("rounds", state["rounds"], ()), 0, self.options.num_layers + 1)
        for name in ("svm_penalty", "tree_weight"):
            shaped(name, state[name], (), (torch.float64,))
        if not 0 <= float(state["tree_weight"]) < 1:
            raise InputError(f"tree_weight: must be 0 or more and below 1, found {float(state['tree_weight'])}")
        clusters = {name.removeprefix(CLUSTERS): part for name, part in state.items() if name.startswith(CLUSTERS)}
        if clusters:
            if not isinstance(self.in_channels, int):
                raise InputError("clusters: are of numbers, but the nodes of this model have categories")
            self.clusters = Clusters.from_tensors(clusters, self.in_channels)
        machine = self._machine(int(state["rounds"]), 1.0)  # the penalty was for learning
        known = {name: part for name, part in state.items() if name not in CHOSEN and not name.startswith(CLUSTERS)}
        machine.load_state_dict(known)
        each = () if machine.task == TASKS[0] else (self.out_channels,)
        gain = shaped("gain", state["gain"], each, (torch.float32,))
        if bool((gain < 0).any()):
            raise InputError("gain: must be 0 or more")
        return machine, gain


def _centred(outputs: Any, task: str) -> Any:
    return outputs - outputs.mean(-1, keepdims=True) if task == TASKS[0] else outputs


def _deviation(outputs: Tensor, task: str) -> Tensor:
    """One number, or of several targets one for each."""
    if task == TASKS[0]:
        return _centred(outputs, task).double().square().mean().sqrt()
    return outputs.double().std(dim=0, correction=0)
