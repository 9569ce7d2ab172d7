"""Both screeners, and the columns of readings they look at."""
