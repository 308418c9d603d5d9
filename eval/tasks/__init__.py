"""Data sets, one file each: `SOURCE`, `load(limit, seed, *, data_dir, ...)` and `check(dialogue)`."""
