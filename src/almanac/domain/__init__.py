"""Meaning: what an observation, a period, a right and a reference record are. No I/O, no clock, no SQL."""
