"""Generating both sides of a conversation with a language model: prompts, turns, conversations."""
