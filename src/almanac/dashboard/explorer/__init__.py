"""Pages for looking at data: finding, series, countries, rates, screeners, companies, the calendar, sources."""
