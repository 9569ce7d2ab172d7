"""What every request passes, whichever endpoint it is for: key, limits, cache, log, envelope."""
