"""What people see of a run: reports, explanations and metrics, all read from its store."""
