"""Rendering of conversations as token ids: layouts of chat templates, plain-text encoding, reasoning."""
