"""The simulated world: invented economies and companies, in the publishers' own formats."""
