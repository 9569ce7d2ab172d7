"""Rows on their way out: what may leave, what a list was asked for, how it is cut into pages."""
