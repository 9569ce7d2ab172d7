"""How much was asked by which account, key and endpoint: counters of their own, of numbers only."""
