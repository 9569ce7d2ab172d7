"""Vintages of cells: how a row is identified and spelled for the wire."""
