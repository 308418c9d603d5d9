"""How rows of tokens are generated together: decoder, scheduler, cache, sampling. Knows no roles and no text."""
