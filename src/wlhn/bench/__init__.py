"""Speed, as ratios measured side by side on one machine."""

from wlhn.bench.timing import alternate, peak_memory

__all__ = ["alternate", "peak_memory"]
