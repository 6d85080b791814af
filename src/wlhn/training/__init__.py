"""From a data set, a split and settings to a fitted model: the problem, the loss, epochs, checkpoints, teams."""
