"""Reference records, and statistics about the stored data."""
