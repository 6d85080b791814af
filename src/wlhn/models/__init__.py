"""Models: WLHN here, and what it is compared with, by name, in `wlhn.models.registry`."""

from wlhn.models.wlhn import WLHN

__all__ = ["WLHN"]
