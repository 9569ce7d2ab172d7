"""Counting over all workers: limits of requests and of heavy ones, what accounts used, and the metrics."""
