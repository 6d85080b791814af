"""Layers, norms, encoders and heads that models share."""
