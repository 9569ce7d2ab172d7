"""The catalogue of everything ingested and derived, as data. `load.py` reads and checks it; adding a series or a formula is an edit of one file."""
