"""Chat families, one file each: `class Format(ChatFormat)` owns every special token of its family."""
