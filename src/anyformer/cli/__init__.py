"""The command line: one short file a command, each ends in `COMMAND`; main.py finds them by their names."""
