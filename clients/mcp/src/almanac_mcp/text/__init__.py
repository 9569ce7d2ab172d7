"""The text of answers, from numbers and periods to tables, citations and refusals. No requests, no clock."""
