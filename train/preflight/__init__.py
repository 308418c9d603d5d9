"""What `python -m eval.doctor` checks, one file per command of this package: `CONFIG`, and `checks(config, processes)`."""
