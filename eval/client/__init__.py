"""How a chat-completions server is asked: retries, deadlines, concurrency, batches, budget. Knows no judge."""
