"""Names of colours for people: what a node is, what stands around it, and further out only what is needed.

A colour of depth t is a node with what can be seen from it in t steps. Its name begins with the node and its
neighbours, `C (2× C, O)`. Colours that read alike so far are written one step further out, `C (C (N), C (O), O)`, the
way back to where one came from left out, until they differ. What would take more than a line, or what no words tell
apart (features behind equal labels), gets a suffix, `C (3× C) #5e10c2`: the beginning of a hash of what the colour
stands for, the same in every hierarchy.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wlhn.errors import InputError
from wlhn.hierarchy.hierarchy import Hierarchy

LINE = 72  # characters of a name that is still read
KINDS = 6  # different neighbours that are listed
SUFFIX = 6  # hexadecimal digits; more where these are not enough


def colour_names(
    hierarchy: Hierarchy,
    t: int,
    node_names: ArrayLike | None = None,
    colours: ArrayLike | None = None,
    edge_words: Sequence[tuple[str, str]] | None = None,
) -> list[str]:
    """Names of the colours of depth t, no two alike.

    Args:
        hierarchy: of any graphs.
        t: the depth, 0 … T.
        node_names: (nodes,) what each node is called, as `wlhn.data.display.node_names` has it; among neighbours a
            name like "degree 3" is shortened to d3. Without names nodes are called by their label or their degree, with
            empty ones by their degree.
        colours: the ones to name, by number and different from each other; all of the depth without it.
        edge_words: for each edge code, what to write before and after a neighbour that comes by such an edge. Without
            it, arrows in front where the hierarchy is directed, and " by LABEL" behind.

    >>> import networkx as nx, wlhn
    >>> colour_names(wlhn.refine(nx.star_graph(3), 1, initial=["N", "O", "O", "H"]), 1)
    ['H (N)', 'N (H, 2× O)', 'O (N)']
    >>> colour_names(wlhn.refine(nx.path_graph(7), 3), 3)
    ['degree 1 (d2)', 'degree 2 (2× d2 (d2))', 'degree 2 (d2 (d1), d2 (d2))', 'degree 2 (d1, d2)']
    >>> colour_names(wlhn.refine(nx.path_graph("ab", nx.DiGraph), 1, ["a", "b"], directed=True), 1)
    ['a (→ b)', 'b (← a)']
    """
    if not 0 <= t <= hierarchy.depth:
        raise InputError(f"depth: expected 0 to {hierarchy.depth}, found {t}")
    wanted = list(range(hierarchy.num_colours[t])) if colours is None else np.asarray(colours, int).tolist()
    words = _Words(hierarchy, t, node_names, edge_words)
    name = {c: words.text(t, c, 1) for c in wanted}
    unclear, reach = _alike(name), 1
    while unclear and (reach := reach + 1) <= t:
        longer = {c: text for c in unclear if len(text := words.text(t, c, reach)) <= LINE and text != name[c]}
        name |= longer
        unclear = [c for c in _alike(name) if c in longer]
    if alike := _alike(name):
        digest, plain, digits = digests(hierarchy, t, alike), dict(name), SUFFIX
        while alike:
            name |= {c: f"{plain[c]} #{digest[c][:digits]}" for c in alike}
            alike, digits = _alike(name), digits + 2
    return [name[c] for c in wanted]


def digests(hierarchy: Hierarchy, t: int, colours: list[int]) -> dict[int, str]:
    """A hash (hexadecimal) of what each of these colours of depth t stands for, whatever its number."""
    needed = [set(colours)]
    for s in range(t, 0, -1):
        sign = hierarchy.signature(s)
        seen = (v for c in needed[-1] for v, _, _ in sign.row(c))
        needed.append({*seen, *(int(hierarchy.parents[s][c]) for c in needed[-1])})
    known = {c: _hash(hierarchy.initial_values[c].tolist()) for c in needed[-1]}
    words = _words_of_edges(hierarchy)
    for s, here in enumerate(reversed(needed[:-1]), start=1):
        sign, above = hierarchy.signature(s), known
        known = {}
        for c in here:
            around = sorted([(words[e], above[v], n) for v, e, n in sign.row(c)])
            known[c] = _hash([above[int(hierarchy.parents[s][c])], around])
    return known


class _Words:
    """What to write of the colours of one hierarchy, down to a depth; every piece is made once."""

    def __init__(
        self,
        hierarchy: Hierarchy,
        depth: int,
        node_names: ArrayLike | None,
        edge_words: Sequence[tuple[str, str]] | None,
    ) -> None:
        self.edge_words = edge_words or _words_of_edges(hierarchy)
        self.hierarchy, self.floor = hierarchy, 0  # colours of the floor are a word each
        self.pieces: dict[tuple[int, int, int, int], str] = {}
        self.parents = [parents.tolist() for parents in hierarchy.parents[: depth + 1]]
        values, start = hierarchy.initial_values, hierarchy.start
        names = None if node_names is None else np.asarray(node_names)
        first = np.unique(hierarchy.colours[0], return_index=True)[1]
        if names is not None and any(str(name) for name in names.tolist()):
            self.long = [str(name) for name in names[first].tolist()]
            self.short = [re.sub(r"^degree (\d+)$", r"d\1", name) for name in self.long]
        elif start == "degree":
            self._degrees(values.tolist())
        elif names is None and values.ndim == 1 and start != "uniform":
            self.long = self.short = [str(value) for value in values.tolist()]
        elif not hierarchy.depth:
            self.long = self.short = ["node"] * len(values)
        else:  # rows of numbers, or nothing: nodes are called by their degree, which they have from depth 1 on
            self.floor = 1
            sign = hierarchy.signature(1)
            self._degrees(np.diff(np.concatenate([[0], np.cumsum(sign.times)])[sign.ptr]))
        ancestors: list[Any] = [np.arange(len(self.long))] * (self.floor + 1)
        for parents in hierarchy.parents[self.floor + 1 : depth + 1]:
            ancestors.append(ancestors[-1][parents])
        self.on_floor = [ancestor.tolist() for ancestor in ancestors]  # of each colour, depth by depth

    def _degrees(self, degrees: Any) -> None:
        self.long = [f"degree {int(d)}" for d in degrees]
        self.short = [f"d{int(d)}" for d in degrees]

    def text(self, t: int, colour: int, reach: int) -> str:
        """The colour as seen so many steps far."""
        if t < self.floor:
            return "node"
        around = self._around(t, colour, reach, -1) if t > self.floor else ""
        own = self.long[self.on_floor[t][colour]]
        return own + (around or " (no neighbours)" * (t > self.floor and own != "degree 0"))

    def _around(self, t: int, colour: int, reach: int, back: int) -> str:
        """The neighbours in brackets, each as seen one step less far; once without `back`, a colour of depth t − 1."""
        if t <= self.floor or not reach:
            return ""
        key = (t, colour, reach, back)
        if key not in self.pieces:
            ahead = self.parents[t - 1][self.parents[t][colour]] if t - 1 > self.floor else -1
            times: Counter[str] = Counter()
            for v, e, n in self.hierarchy.signature(t).row(colour):
                left, back = (n - 1, -1) if v == back else (n, back)
                if left:
                    word = self.short[self.on_floor[t - 1][v]] + self._around(t - 1, v, reach - 1, ahead)
                    before, after = self.edge_words[e]
                    times[before + word + after] += left
            self.pieces[key] = f" ({_listed(times)})" if times else ""
        return self.pieces[key]


def _listed(times: Counter[str]) -> str:
    """Counted words: the most frequent, in alphabetical order, and how many more there are."""
    kept = list(times)
    if len(kept) > KINDS:
        kept = sorted(kept, key=lambda word: (-times[word], _natural(word)))[:KINDS]
    words = [f"{times[word]}× {word}" if times[word] > 1 else word for word in sorted(kept, key=_natural)]
    more = times.total() - sum(times[word] for word in kept)
    return ", ".join([*words, f"{more} more"] if more else words)


@lru_cache(maxsize=100_000)  # the same few thousand words stand in most names
def _natural(word: str) -> tuple[Any, ...]:
    """Alphabetical order in which d2 comes before d10."""
    return tuple(int(part) if k % 2 else part for k, part in enumerate(re.split(r"(\d+)", word)))


def _words_of_edges(hierarchy: Hierarchy) -> list[tuple[str, str]]:
    return [_edge_words(hierarchy, code) for code in range(max(hierarchy.num_edge_codes, 1))]


def _edge_words(hierarchy: Hierarchy, code: int) -> tuple[str, str]:
    """What stands before and after a neighbour by the edge that it comes by."""
    before = ""
    if hierarchy.directed:
        code, out = divmod(code, 2)
        before = "→ " if out else "← "
    return before, "" if hierarchy.edge_values is None else f" by {hierarchy.edge_values[code].tolist()}"


def _alike(name: dict[int, str]) -> list[int]:
    """The colours whose name another one has too."""
    times = Counter(name.values())
    return [c for c, text in name.items() if times[text] > 1]


def _hash(value: Any) -> str:
    return hashlib.blake2b(repr(value).encode(), digest_size=16).hexdigest()
