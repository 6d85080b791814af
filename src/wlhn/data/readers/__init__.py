"""From files to data sets: TU, geom-gcn, OGB, SMILES, graph files, and tables of nodes and edges."""
