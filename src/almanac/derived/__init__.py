"""Formulas: pure functions from vintages of inputs to vintages of results. No I/O, no clock, no SQL."""
