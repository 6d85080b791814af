"""Compiled loops over plain arrays, and the threads they run on. Nothing here knows of tensors or gradients."""
