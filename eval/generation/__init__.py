"""Batched generation of token ids on transformers: decoder, scheduler, KV cache, sampling."""
