"""Companies' filings at the U.S. Securities and Exchange Commission (EDGAR)."""

from almanac.sources.feeds.sec.connector import CONNECTOR

__all__ = ["CONNECTOR"]
