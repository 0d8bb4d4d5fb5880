"""The commands: thin functions over the rooms of the house."""
