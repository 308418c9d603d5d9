"""Clients of OpenAI-compatible servers: retries, deadlines, concurrency, batches, budget, cache. Knows no judge."""
