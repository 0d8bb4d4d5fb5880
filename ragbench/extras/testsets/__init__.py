"""Test sets: drafted questions with checked quotes, and pools of what systems retrieved."""
