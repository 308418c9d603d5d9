"""The labels a judge may give to a user turn (guide: docs/labels.md)."""
