"""Rates, intervals, paired tests, resampling and planning; they know no dialogue and no table."""
