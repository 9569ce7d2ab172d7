"""From a request to a publisher to vintages in the store."""
