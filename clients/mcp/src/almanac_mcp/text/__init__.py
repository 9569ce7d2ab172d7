"""Text: what an answer is made of, from numbers and periods up to tables, citations and refusals. No requests, no clock."""
