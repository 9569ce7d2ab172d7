"""Companies: the list of them, and one with its statements, what was restated, and its scores."""
