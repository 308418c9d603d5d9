"""Chat families, one file each: `class Format(ChatFormat)` defines all special tokens of its family."""
