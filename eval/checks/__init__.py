"""Checks before a run starts, one subject per file; the `preflight/` folder of each package lists them per command."""
