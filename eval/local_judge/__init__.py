"""The parts of the embedded judge: artifacts, cues, features, linear models and rules."""
