"""How the embedded judge reads a user turn and decides: artifacts, cues, features, linear models, rules."""
