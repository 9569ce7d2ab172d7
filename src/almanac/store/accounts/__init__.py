"""Accounts, keys and secrets, in a database of their own."""
