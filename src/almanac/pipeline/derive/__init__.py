"""Recomputation of derived data after changes."""
