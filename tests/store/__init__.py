"""Tests of this room, by its front."""
