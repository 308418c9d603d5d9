"""What episodes start from, one file each: `load(limit, seed, *, data_dir, ...) -> list[Dialogue]`.

None of it is ever evaluated on.
"""
