"""Checks that `python -m eval.doctor` runs, one file per command of this package: `CONFIG` and `checks(config)`."""
