"""Comparison of models measured on the same rows, against each other and against the paper's Table 2."""
