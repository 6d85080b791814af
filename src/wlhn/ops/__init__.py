"""Differentiable operations, each in plain torch and, on the CPU, as compiled loops with the same result."""
