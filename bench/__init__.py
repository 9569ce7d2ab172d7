"""Benchmarks of Almanac and its peers, in one run: `python -m bench`."""
