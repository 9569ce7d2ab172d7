"""Official events and release summaries."""
