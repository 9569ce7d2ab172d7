"""The dashboard: what people look at and where they make keys. Every number comes from the interface's own answers."""
