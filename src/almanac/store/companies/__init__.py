"""Companies: their records, names, filings, facts and statements."""
