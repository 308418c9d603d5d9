"""The paper's tables, one file each, built from runs or summaries."""
