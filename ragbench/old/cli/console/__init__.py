"""What commands say and ask, where they write, and how they end."""
