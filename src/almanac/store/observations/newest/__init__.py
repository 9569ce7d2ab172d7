"""Newest readings: of an indicator for an entity the latest that is no forecast, one by one and as columns of all entities."""
