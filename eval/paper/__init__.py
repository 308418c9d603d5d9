"""Layout of the paper's tables and figures, and its published numbers."""
