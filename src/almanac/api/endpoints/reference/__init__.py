"""Providers, sources, countries, names of entities, and what the service holds."""
