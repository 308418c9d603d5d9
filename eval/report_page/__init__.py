"""The HTML report: its facts, drawings, tables, dialogues and templates."""
