"""Servers and engines of vLLM: which versions, how a turn is sampled on them, and a server process of our own."""
