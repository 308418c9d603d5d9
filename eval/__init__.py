"""Measure the user side of a conversation: the record, the chat formats, the judges, the tables."""
