"""What every tier begins with and ends in: the session, bounds of parameters, estimates and comparisons."""
