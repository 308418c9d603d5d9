"""Sources of seeds, the exchanges that conversations start from; the file name is the name in a configuration."""
