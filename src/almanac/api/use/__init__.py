"""Counting: limits of requests, what accounts used, and the metrics."""
