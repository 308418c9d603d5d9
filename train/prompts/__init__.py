"""Prompt sources of episodes, one file each: `load(limit, seed, *, data_dir, ...) -> list[Dialogue]`.

No row of them is ever used for evaluation.
"""
