"""Who is told the figures of a run, one file each: `class Tracker`, with the members of the protocol `eval.tracker`."""
