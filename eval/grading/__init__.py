"""Prompting for, parsing and grading answers, one file per kind of answer; tasks import what they need."""
