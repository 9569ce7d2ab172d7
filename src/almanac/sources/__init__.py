"""Reading the world. One module per feed; a module is found by being here and named in the catalogue."""
