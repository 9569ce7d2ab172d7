"""Observations, indicators, and what is derived from them."""
