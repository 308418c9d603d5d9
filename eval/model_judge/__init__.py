"""How a language model is asked to judge: prompt, verdict, cache, one by one or in batches."""
