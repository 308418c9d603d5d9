"""The tables of the paper, one file each: rows in, table out."""
