"""How the items of a period are read from the facts that are known of it."""
