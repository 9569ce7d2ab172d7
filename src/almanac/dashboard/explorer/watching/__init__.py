"""Watching: what an account watches, as rows, as files and as the star on other pages."""
