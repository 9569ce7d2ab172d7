"""Formulas over observations: operators, windows, whole series at once."""
