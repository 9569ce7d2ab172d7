"""Formulas over observations: operators, look-up windows, and derivation cell by cell or for whole series."""
