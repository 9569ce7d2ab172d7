"""Keeping official events in step with calendars, vintages and filings."""
