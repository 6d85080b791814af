"""Models that are fitted in one go: on the tree of colours, or on features made by hand."""
