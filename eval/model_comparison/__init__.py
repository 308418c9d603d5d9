"""Models measured on the same rows: what they share, how they differ, and what that says of the paper's Table 2."""
