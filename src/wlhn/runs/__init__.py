"""The trained artefact: what is kept of a training run, its folder on disk, and its predictions."""
