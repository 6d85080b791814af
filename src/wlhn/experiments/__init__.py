"""The paper's tables and figures: how each is made again, with the published numbers beside it as data."""
