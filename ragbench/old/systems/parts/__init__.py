"""The parts of a configured system: how passages are found, and what is done before and after."""
