"""Companies: the scored list, profiles, financial statements."""
