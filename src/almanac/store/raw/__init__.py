"""Raw payloads byte for byte, and the index of what was captured when."""
