"""How the paper's tables and figures are laid out, and its published numbers."""
