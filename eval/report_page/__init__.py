"""The report as a page: its facts, its drawings, its dialogues, and the template that holds them."""
