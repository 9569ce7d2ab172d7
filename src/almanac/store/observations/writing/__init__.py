"""Observations written: batches of vintages, and what follows from them."""
