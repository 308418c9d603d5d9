"""Ways to run a model, one file each: `class Engine`, token ids in, completions out."""
