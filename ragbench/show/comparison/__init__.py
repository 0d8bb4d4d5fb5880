"""Systems beside each other: the answer, intervals, verdicts, slices, and the questions where they differ most."""
