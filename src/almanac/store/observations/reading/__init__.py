"""Observations read: lists, pages, latest readings, single rows, changes."""
