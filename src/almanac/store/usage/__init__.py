"""How much was asked by which account, key and endpoint: counters in a file of their own, of numbers only."""
