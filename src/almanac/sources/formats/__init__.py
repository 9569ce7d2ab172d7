"""Formats that several publishers use: SDMX, JSON-stat, calendars, workbooks, and the fields in them."""
