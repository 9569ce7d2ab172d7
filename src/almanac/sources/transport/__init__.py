"""The polite client: pace, time-outs, redirects, and keys that are never told."""
