"""Models: WLHN and, later, what it is compared with."""

from wlhn.models.wlhn import WLHN

__all__ = ["WLHN"]
