"""How a chat-completions server is asked: retries, deadlines, concurrency, batches, budget, cache. Knows no judge."""
