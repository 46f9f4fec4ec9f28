"""What is shown of a run: plain tables, and pictures whose data is made apart from their drawing."""
