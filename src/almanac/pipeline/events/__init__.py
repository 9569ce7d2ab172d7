"""Updating of official events after changes of calendars, vintages and filings."""
