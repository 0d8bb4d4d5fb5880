"""What every view stands on: the measurement laid out, its texts, charts and links."""
