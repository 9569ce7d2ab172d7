"""Comparing: lines of several places, indicators and past days on one chart, in one table, at one address."""
