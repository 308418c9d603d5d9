"""Judging with a language model: prompt, verdict, cached judgements, canary; online or in batches."""
