"""Synthesize training conversations: seeds, plans, teachers, filters. Imports eval only."""
