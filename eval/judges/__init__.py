"""Judges of user turns, one file each: `class Judge` with `id`, `measured`, `cost_bound` and `judge(dialogues)`."""
