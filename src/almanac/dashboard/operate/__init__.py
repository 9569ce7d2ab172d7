"""Pages for those who run the service: sources, runs, quarantine, plans, accounts."""
