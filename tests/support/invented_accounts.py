"""What tests of accounts agree on: the plans there are, and a moment."""

PLANS = ("free", "pro")
NOW = 1_790_000_000
#: An address that has an account where a test makes one, and its password.
ADA = "ada@example.org"
PASSWORD = "correct horse battery"
