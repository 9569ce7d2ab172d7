"""The only place with SQL: raw payloads, vintages, what is served now, reference records, accounts."""
