"""One series: its page on any day, its releases and revisions, and where each value comes from."""
