"""The review bench: a small web application for labelling user turns without knowing who wrote them."""
