"""The simulated companies: their books, what they file and when."""
