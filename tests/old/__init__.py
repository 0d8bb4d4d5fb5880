"""Tests of the old house; they go with it, room by room."""
