"""The endpoints, by what they are about: handlers beside the records they give."""
