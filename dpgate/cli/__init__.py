"""The command line: every command is one step of the route, prints for people or (`--json`) for programs."""

from dpgate.cli.app import main

__all__ = ["main"]
