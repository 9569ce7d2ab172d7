"""Companies: from the facts in their filings to statements, ratios and scores, for every moment of knowledge."""
