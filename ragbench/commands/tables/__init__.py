"""Tables that people bring to a command."""
