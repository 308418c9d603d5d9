"""The review bench: a small web application in which people label user turns without knowing whose they are."""
