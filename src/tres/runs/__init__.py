"""Starting, resuming and teaching runs: a topic file in, a run directory out."""
