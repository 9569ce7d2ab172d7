"""Rates: curves of seven scopes, their spreads and slopes."""
