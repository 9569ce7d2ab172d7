"""What an endpoint declares: its path, parameters and records; cursors, errors, and the descriptions read from them."""
