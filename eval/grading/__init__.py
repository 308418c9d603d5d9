"""How answers are asked for, read and graded, one kind of answer a file; tasks choose."""
