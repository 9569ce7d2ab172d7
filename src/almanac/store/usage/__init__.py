"""Request counters by account, key and endpoint: numbers only, in a database of their own."""
