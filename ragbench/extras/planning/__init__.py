"""The next study: how many questions show a difference that matters."""
