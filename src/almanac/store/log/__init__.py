"""What happened: payloads and runs, and whose turn it is to ask a source."""
