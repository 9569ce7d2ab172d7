"""One module or folder for each publisher's feed, found by its name in the catalogue."""
