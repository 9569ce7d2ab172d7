"""Almanac: a self-hosted, read-only financial data service."""
