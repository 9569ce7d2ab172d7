"""Accounts and counts of use on PostgreSQL: in the schema of the data, beside its tables."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from almanac.store.engine.areas import Area
from almanac.store.engine.postgres.connection import PostgresConnection
from almanac.store.engine.postgres.database import connect, prepare
from almanac.store.engine.postgres.faults import faults, shown

#: They are asked at every request, of a server that may be gone: nobody waits for them as long as for a load.
_PATIENCE = {"connect_timeout": "3", "tcp_user_timeout": "5000"}


def _patient(url: str) -> str:
    """An address that says so, where it does not say otherwise."""
    parts = urlsplit(url)
    said = parse_qsl(parts.query, keep_blank_values=True)
    told = said + [one for one in _PATIENCE.items() if one[0] not in dict(said)]
    return urlunsplit(parts._replace(query=urlencode(told, quote_via=quote)))


@faults()
def create(url: str, area: Area, *, busy_seconds: float = 30.0, prepared: bool = True) -> PostgresConnection:
    """
    Connect to an area, making its tables where they are not, and bringing them to today's schema.

    Raises StoreError for one of a later version.
    """
    connection = connect(
        _patient(url),
        area=area.name,
        busy_seconds=busy_seconds,
        prepared=prepared,
        lasting=area.lasting,
    )
    try:
        prepare(connection, url, area.name)
        if _schema(connection, area) != area.schema:
            with connection.transaction():  # whoever comes second finds it made
                if area.bring(connection, _schema(connection, area), shown(url)):
                    connection.execute(
                        "UPDATE change_token SET schema_number = ? WHERE area = ?", (area.schema, area.name)
                    )
    except BaseException:  # whatever it is, the connection is let go of
        connection.close()
        raise
    return connection


def _schema(connection: PostgresConnection, area: Area) -> int:
    return int(connection.execute("SELECT schema_number FROM change_token WHERE area = ?", (area.name,)).get)
