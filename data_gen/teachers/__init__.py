"""Teachers, which generate both sides of a conversation; the file name is the name in a configuration."""
