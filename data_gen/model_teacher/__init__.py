"""How a language model is asked to speak both sides of a conversation: prompts, turns, conversations."""
