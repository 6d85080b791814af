"""Data sets: TU, node, molecule, synthetic and the user's own; features, splits, cache."""

from wlhn.data.audit import Audit, audit
from wlhn.data.columns import Column
from wlhn.data.dataset import Dataset
from wlhn.data.features import Encoding, encoding, features
from wlhn.data.load import load
from wlhn.data.memory import as_dataset
from wlhn.data.readers.edge_tables import read_node_tables
from wlhn.data.readers.geom_gcn import read_geom_gcn
from wlhn.data.readers.graph_files import read_graph_files
from wlhn.data.readers.molecules import read_smiles, scaffold_split
from wlhn.data.readers.ogb import ogb_score, read_ogb
from wlhn.data.readers.tables import ReadOptions
from wlhn.data.readers.tu import read_tu
from wlhn.data.registry import KNOWN, known_name, locate, register_dataset
from wlhn.data.splits import Split, random_splits, read_json_splits, read_mask_split, splits_hash, stratified_folds
from wlhn.data.statistics import Statistics, check, published, statistics

__all__ = [
    "KNOWN",
    "Audit",
    "Column",
    "Dataset",
    "Encoding",
    "ReadOptions",
    "Split",
    "Statistics",
    "as_dataset",
    "audit",
    "check",
    "encoding",
    "features",
    "known_name",
    "load",
    "locate",
    "ogb_score",
    "published",
    "random_splits",
    "read_geom_gcn",
    "read_graph_files",
    "read_json_splits",
    "read_mask_split",
    "read_node_tables",
    "read_ogb",
    "read_smiles",
    "read_tu",
    "register_dataset",
    "scaffold_split",
    "splits_hash",
    "statistics",
    "stratified_folds",
]
