"""Judges of user turns, one file each: `class Judge` with `id`, `measured` and `judge(dialogues)`."""
