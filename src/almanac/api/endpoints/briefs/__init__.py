"""Country briefs."""
