"""The `wlhn` command: one file for each group of commands, each command a typed function."""

from wlhn.cli.app import main

__all__ = ["main"]
