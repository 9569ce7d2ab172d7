"""Rows of one topic between two periods, as pages are joined of them: what they are asked by, and what says which."""
