"""The HTTP interface: read-only, every request keyed, every endpoint one declaration."""
