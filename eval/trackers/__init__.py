"""Experiment trackers, one file each: `class Tracker`, which implements `eval.tracker.Tracker`."""
