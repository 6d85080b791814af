"""Tables and pictures, from result files and arrays only."""
