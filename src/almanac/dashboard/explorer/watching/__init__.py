"""Watching: what an account watches and the screens it keeps, as rows, as files and as the star on other pages."""
