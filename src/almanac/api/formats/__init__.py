"""Forms of lists beside JSON: CSV, NDJSON and Arrow, with columns read from the declared records."""
