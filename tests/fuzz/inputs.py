"""Small valid inputs of every format: (name, what is read, files)."""

from __future__ import annotations

import gzip
import io
import zipfile

import networkx as nx
import numpy as np
import pandas as pd

TU = {
    "S/S_A.txt": b"1, 2\n2, 1\n3, 4\n4, 3\n4, 5\n5, 4\n",
    "S/S_graph_indicator.txt": b"1\n1\n2\n2\n2\n",
    "S/S_graph_labels.txt": b"-1\n1\n",
    "S/S_node_labels.txt": b"3\n3\n1\n2\n1\n",
    "S/S_edge_labels.txt": b"0\n0\n1\n1\n0\n0\n",
    "S/S_node_attributes.txt": b"0.5, 1\n1.5, 2\n2.5, 3\n0.25, 4\n1e-3, 5\n",
}
NODES = "id,kind,size,age,split,klass\n" + "".join(
    f"n{k},{'ab'[k % 2] if k % 5 else ''},{k / 4 if k % 3 else ''},{20 + k},{['train', 'valid', 'test', ''][k % 4]},"
    f"{['yes', 'no', ''][k % 3]}\n"
    for k in range(12)
)
EDGES = "from,to,how,weight\n" + "".join(
    f"n{k},n{(k * 5 + 1) % 12},{['road', 'rail', ''][k % 3]},{k / 8}\n" for k in range(12)
)
SMILES = "name,smiles,toxic,soluble\nw,O,0,1\ne,CCO,1,\nb,c1ccccc1,,0\ns,[Na+].[Cl-],1,1\na,C[C@H](N)C(=O)O,0,0\n"
OGB = {
    "m/raw/num-node-list": "2\n3\n",
    "m/raw/num-edge-list": "1\n2\n",
    "m/raw/edge": "0,1\n0,1\n1,2\n",
    "m/raw/node-feat": "5,0,4,5,3,0,2,0,0\n" * 5,
    "m/raw/edge-feat": "0,0,0\n" * 3,
    "m/raw/graph-label": "0,1\n1,\n",
    "m/mapping/mol": "p,q,smiles,mol_id\n0,1,CC,a\n1,,CCC,b\n",
    "m/split/scaffold/train": "0\n",
    "m/split/scaffold/valid": "1\n",
    "m/split/scaffold/test": "",
}
GEOM = {
    "g/out1_graph_edges.txt": b"node_id\tnode_id\n0\t1\n1\t2\n2\t0\n",
    "g/out1_node_feature_label.txt": b"node_id\tfeature\tlabel\n0\t1,0,1\t0\n1\t0,0,1\t1\n2\t1,1,1\t0\n",
}


def people(kind: type[nx.Graph]) -> nx.Graph:
    graph = kind(name="g")
    for k in range(6):
        graph.add_node(f"n{k}", age=k * 2, job="ab"[k % 2], height=k / 3)
        graph.add_edge(f"n{k}", f"n{(k + 1) % 6}", how="cd"[k % 2], weight=k / 7)
    del graph.nodes["n1"]["age"], graph.nodes["n2"]["job"]
    return graph


def graphml(graph: nx.Graph) -> bytes:
    out = io.BytesIO()
    nx.write_graphml_xml(graph, out)
    return out.getvalue()


def gml(graph: nx.Graph) -> bytes:
    return "\n".join(nx.generate_gml(graph)).encode()


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def masks() -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, train_mask=[1, 0, 0], val_mask=[0, 1, 0], test_mask=[0, 0, 1])
    return out.getvalue()


def parquet(compression: str) -> bytes:
    out = io.BytesIO()
    frame = pd.DataFrame({"source": ["a", "b", "c"] * 9, "target": ["b", "c", "d"] * 9, "weight": np.arange(27) / 4})
    frame.to_parquet(out, compression=compression)
    return out.getvalue()


EDGE_LIST = b"a b 0.5\nb c 1.5\nc a 2\n# a comment\nalone\n"
WRITTEN = b"a b {'weight': 0.5, 'how': 'road'}\nb c {}\n"
TARGETS = b"file,shape,mass\nring,0.5,1.5\npath,,2.5\nnet,1.5,\n"
FOLDER = {
    "f/ring.graphml": graphml(people(nx.Graph)),
    "f/path.gml": gml(people(nx.DiGraph)),
    "f/net.edgelist": EDGE_LIST,
    "f/targets.csv": TARGETS,
}

INPUTS: list[tuple[str, str, dict[str, bytes]]] = [
    ("tu folder", "S", TU),
    ("tu zip", "s.zip", {"s.zip": zipped(TU)}),
    ("graphml", "g.graphml", {"g.graphml": graphml(people(nx.Graph))}),
    ("graphml directed", "g.graphml", {"g.graphml": graphml(people(nx.MultiDiGraph))}),
    ("gml", "g.gml", {"g.gml": gml(people(nx.Graph))}),
    ("edge list", "g.edgelist", {"g.edgelist": EDGE_LIST}),
    ("edge list of networkx", "g.edgelist", {"g.edgelist": WRITTEN}),
    ("graph files", "f", FOLDER),
    ("node tables", "t", {"t/nodes.csv": NODES.encode(), "t/edges.csv": EDGES.encode()}),
    (
        "node tables, gzip",
        "t",
        {"t/nodes.csv.gz": gzip.compress(NODES.encode()), "t/edges.csv.gz": gzip.compress(EDGES.encode())},
    ),
    (
        "node tables, ;",
        "t",
        {"t/nodes.csv": NODES.replace(",", ";").encode(), "t/edges.csv": EDGES.replace(",", "|").encode()},
    ),
    ("edge table", "e.csv", {"e.csv": EDGES.encode()}),
    ("edge table, gzip", "e.csv.gz", {"e.csv.gz": gzip.compress(EDGES.encode())}),
    ("parquet", "e.parquet", {"e.parquet": parquet("snappy")}),
    ("parquet, plain", "e.parquet", {"e.parquet": parquet("none")}),
    ("smiles", "m.csv", {"m.csv": SMILES.encode()}),
    ("smiles, gzip", "m.csv.gz", {"m.csv.gz": gzip.compress(SMILES.encode())}),
    ("geom-gcn", "g", GEOM | {"splits/g_split_0.6_0.2_0.npz": masks()}),
    ("ogb", "m", {f"{name}.csv.gz": gzip.compress(text.encode()) for name, text in OGB.items()}),
]
