"""Inference engines, one file each: `class Engine`, token ids in, completions out."""
