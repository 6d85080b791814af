"""Trees into hyperbolic space: Sarkar, Sala et al., DiffHypCon; and how much distance they keep."""

from wlhn.embeddings.combinatorial import sala, sarkar, sarkar_points, spherical_code
from wlhn.embeddings.diffhypcon import diffhypcon
from wlhn.embeddings.embedding import TreeEmbedding
from wlhn.embeddings.quality import Quality, quality
from wlhn.embeddings.random_gin import random_gin

__all__ = [
    "Quality",
    "TreeEmbedding",
    "diffhypcon",
    "quality",
    "random_gin",
    "sala",
    "sarkar",
    "sarkar_points",
    "spherical_code",
]
