"""Mini-batches: rows of colours or nodes as in PyG, collated from encoded graphs, ready when the model wants them."""
