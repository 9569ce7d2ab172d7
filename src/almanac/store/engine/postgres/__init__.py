"""PostgreSQL through psycopg: the second engine. Nothing here is imported before a database of it is opened."""
