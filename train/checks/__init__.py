"""Checks before training starts, one subject per file."""
