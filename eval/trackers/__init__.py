"""Who is told the metrics of a run, one file each: `class Tracker`, with the members of the protocol `eval.tracker`."""
