"""Judges of user turns, one file each: `class Judge` with `id` and `judge(dialogues)`."""
