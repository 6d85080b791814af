"""Data sets from outside: functions of a seed, registered here or named by an entry point `wlhn.datasets`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from wlhn.data.dataset import Dataset
from wlhn.errors import InputError
from wlhn.plugins import Registry

MakesDataset = Callable[[int], Dataset]  # from a seed, for those that are generated

DATASETS: Registry[MakesDataset] = Registry("data set", "wlhn.datasets", {})


def register_dataset(name: str) -> Callable[[MakesDataset], MakesDataset]:
    """A decorator that makes a data set known by a name in this process.

    >>> from wlhn.data.builtin import karate_club
    >>> @register_dataset("my-club")
    ... def my_club(seed: int) -> Dataset:
    ...     return karate_club()
    >>> outside_dataset("my-club", seed=0).name
    'my-club'
    """

    def register(make: MakesDataset) -> MakesDataset:
        DATASETS.register(name, make)
        return make

    return register


def outside_dataset(name: str, seed: int) -> Dataset:
    """A data set of somebody else's."""
    dataset = DATASETS[name](seed)
    if not isinstance(dataset, Dataset):
        raise InputError(f"data set '{name}': its function must give a wlhn.data.Dataset, not {type(dataset).__name__}")
    return replace(dataset, name=name)
