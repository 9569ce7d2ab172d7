"""Screening: the builder of filters and what it finds."""
