"""What commands share: options, progress, tables, JSON, how data are read."""
