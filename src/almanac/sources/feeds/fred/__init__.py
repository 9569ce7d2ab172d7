"""FRED and ALFRED: series of many publishers, with the history of what was published when."""

from almanac.sources.feeds.fred.connector import CONNECTOR

__all__ = ["CONNECTOR"]
