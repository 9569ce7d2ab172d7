"""The log of payloads and runs, and the schedule of the sources."""
