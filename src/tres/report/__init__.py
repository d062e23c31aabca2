"""Reports, explanations and metrics of a run, all read from its store."""
