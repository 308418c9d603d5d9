"""What is looked at before training starts, one subject a file."""
