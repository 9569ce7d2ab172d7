"""What tests of accounts agree on: the plans there are, and a moment."""

PLANS = ("free", "pro")
NOW = 1_790_000_000
