"""What is looked at before a run starts, one subject a file; `eval/preflight/` and its like put them together."""
