"""The ten tools, one module each: what it asks of the interface, and what it says."""
