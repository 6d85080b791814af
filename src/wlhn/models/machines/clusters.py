"""Numbers of nodes as clusters, so that a machine on the tree finds colours that graphs have in common.

Measured numbers make nearly every node a colour of its own. A network can use them as they are; its tree of colours
says nothing. Clusters are fitted on training nodes; columns of 0 and 1, which are categories, stay what they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from wlhn.batching.colour_batch import ColourBatch
from wlhn.batching.refined import make_quotient
from wlhn.errors import InputError
from wlhn.hierarchy.binning import KMeans
from wlhn.nn.memory import shaped


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which columns are numbers, and into which clusters of rows these fall.

    >>> x = torch.tensor([[1.0, 0.2], [0.0, 0.3], [0.0, 7.1], [1.0, 7.2]])
    >>> Clusters.fit(x, 2).encode(x).tolist()
    [[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0]]
    """

    numeric: Tensor  # (columns,) of bool
    bins: KMeans

    @staticmethod
    def fit(x: Tensor, clusters: int) -> Clusters | None:
        """Of the rows of training nodes; None where no column holds other numbers than 0 and 1."""
        numeric = ~((x == 0) | (x == 1)).all(dim=0)
        if not x.is_floating_point() or not bool(numeric.any()):
            return None
        return Clusters(numeric, KMeans.fit(x[:, numeric].double().numpy(), clusters))

    @property
    def width(self) -> int:
        """Columns of encoded rows."""
        return int((~self.numeric).sum()) + len(self.bins.centres)

    def encode(self, x: Tensor) -> Tensor:
        """(rows, width): columns of 0 and 1, and the row's cluster as one more one-hot vector."""
        code = torch.from_numpy(self.bins.codes(x[:, self.numeric].double().numpy())[:, 0]).long()
        return torch.cat([x[:, ~self.numeric], torch.eye(len(self.bins.centres))[code]], dim=1)

    def encode_batch(self, batch: ColourBatch) -> ColourBatch:
        """The same graphs as colours that start from encoded rows."""
        assert batch.taken_from is not None
        hierarchy, graphs, x = batch.taken_from
        assert hierarchy.source is not None
        rows = self.encode(x).numpy()[hierarchy.colours[0]]
        edges = batch.edge_x is not None
        encoded = make_quotient(hierarchy.source, rows, hierarchy.depth, edges).batch(graphs)
        return replace(encoded, edge_x=batch.edge_x)  # a hierarchy is kept for graphs with the same codes of edges

    def to_tensors(self) -> dict[str, Tensor]:
        """Plain tensors, for a run folder."""
        numbers = {"centres": self.bins.centres, "deviation": self.bins.deviation}
        return {"numeric": self.numeric} | {
            name: torch.tensor(value, dtype=torch.float64) for name, value in numbers.items()
        }

    @staticmethod
    def from_tensors(tensors: Mapping[str, Tensor], columns: int) -> Clusters:
        """What `to_tensors` gave, or something like it: it may come from anywhere."""
        for name in ("numeric", "centres", "deviation"):
            if name not in tensors:
                raise InputError(f"{name}: is missing")
        numeric = shaped("numeric", tensors["numeric"], (columns,), (torch.bool,))
        centres, deviation, numbers = tensors["centres"], tensors["deviation"], int(numeric.sum())
        shaped("centres", centres, (len(centres) if centres.ndim else 0, numbers), (torch.float64,))
        shaped("deviation", deviation, (numbers,), (torch.float64,))
        if not centres.numel() or not bool((deviation > 0).all()):
            raise InputError("centres: must be one or more, and deviations above 0")
        return Clusters(numeric, KMeans(tuple(map(tuple, centres.tolist())), tuple(deviation.tolist())))


def rows_of_nodes(batch: ColourBatch) -> Tensor:
    """(nodes, …) features of all nodes of a batch, in any order."""
    return batch.x if batch.weight is None else batch.x.repeat_interleave(batch.weight.long(), dim=0)
