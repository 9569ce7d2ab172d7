"""Official events, and the calendars of releases."""
