"""Keeping what is derived in step with what changed."""
