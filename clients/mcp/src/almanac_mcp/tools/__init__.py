"""The ten tools, one module each: the requests and the answer."""
