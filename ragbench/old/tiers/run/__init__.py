"""A whole run: what its pages say together, what is kept of it, its gates, and a part of its questions stated anew."""
