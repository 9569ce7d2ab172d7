"""Explanations of derived values, for an interface that knows no formulas."""
