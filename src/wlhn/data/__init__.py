"""Data sets: TU, node, molecule, synthetic and the user's own; features, splits, cache."""

from wlhn.data.dataset import Column, Dataset
from wlhn.data.features import Encoding, encoding, features
from wlhn.data.load import load
from wlhn.data.splits import Split, random_splits, read_json_splits, read_mask_split, splits_hash, stratified_folds
from wlhn.data.statistics import Statistics, statistics
from wlhn.data.tu import read_tu

__all__ = [
    "Column",
    "Dataset",
    "Encoding",
    "Split",
    "Statistics",
    "encoding",
    "features",
    "load",
    "random_splits",
    "read_json_splits",
    "read_mask_split",
    "read_tu",
    "splits_hash",
    "statistics",
    "stratified_folds",
]
