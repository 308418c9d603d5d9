"""How a conversation is spoken to a model: layouts of chat templates, text as plain tokens, reasoning apart."""
