"""Measurements of Almanac beside its peers, in one run: `python -m bench`."""
