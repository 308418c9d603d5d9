"""What `python -m eval.doctor` checks, one file per command: `CONFIG`, and `checks(config, processes)`."""
