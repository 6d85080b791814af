"""Distance-preserving representations of nodes and graphs."""
