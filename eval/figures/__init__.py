"""The figures of the paper, one file each: runs in, drawings out."""
