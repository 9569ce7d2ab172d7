"""Reference records, and figures about what is held."""
