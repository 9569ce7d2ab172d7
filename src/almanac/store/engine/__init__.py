"""The database engine: connections, the schema, transactions."""
