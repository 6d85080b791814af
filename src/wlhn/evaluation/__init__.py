"""Selection and assessment: protocols, grids, search, jobs and who does them, outcomes and their comparison."""

DEFAULT_GRID = "lean"
