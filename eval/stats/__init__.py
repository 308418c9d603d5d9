"""Rates, intervals, paired tests, resampling and planning; no module here knows a dialogue or a table."""
