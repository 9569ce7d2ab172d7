"""How a derived value came about, for an interface that knows no formulas."""
