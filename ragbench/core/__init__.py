"""What every room stands on: frames, types, metrics' declaration, settings, language, errors."""
