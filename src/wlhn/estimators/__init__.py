"""Estimators in scikit-learn's style, for lists of graphs instead of rows of numbers.

Graphs are a list of networkx or PyG graphs, or a `wlhn.data.Dataset`. For graphs, y has one target each; for nodes, one
for each node of all graphs in a row, or one array for each graph. A share of the items is held out inside `fit` to
choose the epoch. Fitted estimators are saved as run folders, which `wlhn predict` reads too.
"""

from wlhn.estimators.estimators import GraphClassifier, GraphEmbedder, GraphRegressor, NodeClassifier, NodeRegressor

__all__ = ["GraphClassifier", "GraphEmbedder", "GraphRegressor", "NodeClassifier", "NodeRegressor"]
