"""What can be said about training, whatever the model: how its inputs are encoded, and how its weights are learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from wlhn.options.option import Options, option

Degree = Literal["scalar", "onehot", "log"]
MOST_DEGREES = 512  # as one-hot columns that nobody asked for; COLLAB has 492
Binning = Literal["quantiles", "k-means"]
BINNINGS: tuple[str, ...] = get_args(Binning)  # kernels take the first where none is asked for
NodeInputs = Literal["given", "labels", "features", "both", "degree"]
ClassWeights = Literal["none", "root", "balanced"]


@dataclass(frozen=True)
class ClassWeightOptions(Options):
    """Classes of unequal size: of networks and of machines."""

    class_weights: ClassWeights = option(
        "none",
        "Whether items weigh more, where they are learned from, the rarer their class is: so much that all classes "
        "weigh alike (balanced), or half-way to that (root).",
    )


@dataclass(frozen=True)
class InputOptions(Options):
    """How graphs become numbers, and what counts as good: all that a model takes which is fitted in one go."""

    edge_features: bool = option(False, "Whether the model sees labels and features of edges.")
    directed: bool = option(
        False,
        "Whether the model tells nodes that an edge comes from and nodes that it leads to apart; without it, it sees "
        "the former alone. Commands then read tables and edge lists, which are undirected otherwise, with directions.",
    )
    inputs: NodeInputs = option(
        "given",
        "What the model sees of a node: what the data set gives (`wlhn datasets show NAME` says it), its label alone, "
        "its features alone, both, or its degree alone.",
    )
    degree: Literal["auto", Degree] = option(
        "auto",
        "How degrees enter where nodes have no features: as a number, one-hot, or as its logarithm; auto is one-hot "
        f"for graphs (the logarithm where a degree is {MOST_DEGREES} or more) and a number for nodes.",
    )
    standardise: bool = option(
        True, "Whether numeric features get mean 0 and deviation 1; columns of 0 and 1 stay as they are."
    )
    binning: Literal["none", Binning] = option(
        "none",
        "Whether numeric features of nodes become categories, so that nodes can share colours: bins of each column "
        "that hold equally many training nodes, or clusters of whole rows.",
    )
    bins: int = option(8, "Bins of each column, or clusters, where `binning` asks for some.", at_least=1)
    metric: Literal["default", "accuracy", "balanced-accuracy", "macro-f1", "rocauc", "ap", "mse", "mae", "r2"] = (
        option(
            "default",
            "What early stopping and selection look at; by default accuracy of classes, mse of numbers, rocauc of a "
            "0/1 target and ap of several.",
        )
    )


@dataclass(frozen=True)
class TrainingOptions(ClassWeightOptions, InputOptions):
    """How the weights of a network are learned. The defaults are those of `wlhn train`."""

    learning_rate: float = option(1e-3, "Step size of the optimizer.", above=0)
    optimizer: Literal["adam", "riemannian-adam"] = option("adam", "The optimizer.")
    weight_decay: float = option(0.0, "L2 penalty on the weights.", at_least=0)
    batch_size: int = option(128, "Graphs in a mini-batch.", at_least=1)
    epochs: int = option(300, "Maximum number of epochs.", at_least=1)
    patience: int = option(50, "Epochs without improvement on the validation items before training stops.", at_least=1)
    monitor: Literal["metric", "loss"] = option("metric", "What has to improve on the validation items.")
    full_batch_momentum: float = option(
        1.0,
        "Momentum of BatchNorm's running statistics where one mini-batch holds all training items. At torch's 0.1 they "
        "are ten epochs late, which on Squirrel hid 27 points of accuracy from early stopping.",
        above=0,
    )
    whole_graph_nodes: int = option(
        100_000, "Node tasks: with more nodes than this, mini-batches are nodes with all they depend on.", at_least=1
    )
    nodes_per_batch: int = option(4096, "Nodes in such a mini-batch.", at_least=1)
