"""Almanac for language models: official series as known on any day, with sources, over the Model Context Protocol."""

__version__ = "0.1.0"
