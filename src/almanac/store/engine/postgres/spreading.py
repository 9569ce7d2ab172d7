"""
The data's large tables spread over several machines by Citus: which of them, and how.

What is of a topic stands on one machine, all of it: `topic` is the column that the large tables are spread by, and is in
each of their keys. What they are joined with is on every machine; all else stays with the coordinator alone. When a write counts as
done is in `settling`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from almanac.store.engine.errors import StoreError
from almanac.store.engine.words import following

#: Spread by topic.
BY_TOPIC = ("vintages", "change")
#: On every machine.
EVERYWHERE = ("topic", "series", "spec", "preference", "lineage", "note")
#: One row in each part, and one on each machine: the change token of the last write that is there.
MARKS = "spread_mark"
COPIES = "spread_copy"
#: The area that is spread (`connection.PostgresConnection`).
AREA = "data"
#: How many keys are tried until each part has one.
_TRIED = 100_000


Ask = Callable[..., Sequence[Any]]


def is_spread(ask: Ask) -> bool:
    """Whether the tables of the schema are spread. `ask` runs a statement in PostgreSQL's own words and gives its rows."""
    return bool(ask(f"SELECT to_regclass('{MARKS}') IS NOT NULL")[0][0])


def check(ask: Ask) -> None:
    """Raise StoreError where Citus is not there, or knows of no machine to spread to."""
    if not ask("SELECT 1 FROM pg_extension WHERE extname = 'citus'"):
        raise StoreError("the database has no Citus: CREATE EXTENSION citus, and name its machines (citus_add_node)")
    nodes = "SELECT 1 FROM pg_dist_node WHERE isactive AND shouldhaveshards AND noderole = 'primary'"
    if not ask(nodes):
        raise StoreError("Citus knows of no machine to spread to: name one by citus_add_node")


def spread(ask: Ask, parts: int) -> None:
    """Spread the data's tables inside the caller's transaction, with all that is in them. Raises StoreError where it cannot be."""
    ask("SET LOCAL client_min_messages = warning")
    ask("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
    ask(f"CREATE TABLE {MARKS}(topic bigint PRIMARY KEY, n bigint NOT NULL)")
    ask(f"CREATE TABLE {COPIES}(one bigint PRIMARY KEY, n bigint NOT NULL)")
    ask(f"SELECT create_distributed_table('{MARKS}', 'topic', colocate_with := 'none', shard_count := {parts})")
    for table in (*EVERYWHERE, COPIES):
        ask(f"SELECT create_reference_table('{table}')")
    for table in BY_TOPIC:
        ask(f"SELECT create_distributed_table('{table}', 'topic', colocate_with := '{MARKS}')")
    ask(f"INSERT INTO {COPIES} VALUES(1, 0)")
    for key in _keys(ask, parts):
        ask(f"INSERT INTO {MARKS} VALUES({key}, 0)")


def _keys(ask: Ask, parts: int) -> list[int]:
    """A key for each part."""
    sql = f"""SELECT min(k) FROM generate_series(1, {_TRIED}) k GROUP BY get_shard_id_for_distribution_column('{MARKS}', k)"""
    found = [key for (key,) in ask(sql)]
    if len(found) != parts:
        raise StoreError(f"{parts} parts are more than can be told apart: ask for fewer")
    return found


def taken_away(ask: Ask) -> int:
    """Take the marks away where there are any. In how many parts the tables are; 0: not spread."""
    if not is_spread(ask):
        return 0
    ((parts,),) = ask(f"SELECT count(*) FROM {MARKS}")
    ask(f"DROP TABLE {MARKS}, {COPIES}")
    return int(parts)


def tidy(ask: Ask) -> None:
    """Give back the space of what was spread, each table in a transaction of its own."""
    for table in (*BY_TOPIC, *EVERYWHERE):
        ask(f"SELECT truncate_local_data_after_distributing_table('{table}')")


#: As statements say of which topic's rows `y` the newest period is looked for, among which `x` are of that period.
_OF_TOPIC = re.compile(r"\by\.topic = (?:t\.topic|n\.value)(?!\w)")


def own_topic(sql: str) -> str:
    """
    A subquery in the condition of a join, said of the table that is joined rather than of the one before it.

    `JOIN vintages x ON x.topic = t.topic AND x.period = (SELECT … y.topic = t.topic …)`: only of `x` Citus knows that it
    stands beside `y`. It is not written so, for then SQLite finds no period by the key.
    """
    return _OF_TOPIC.sub("y.topic = x.topic", sql)


#: Stands for a number that is asked for before.
NUMBER = "{number}"
_FOLLOWING = re.compile(re.escape(following("column", "table")).replace("column", r"\w+").replace("table", r"\w+"))


def apart(sql: str) -> tuple[str, str | None]:
    """A new row without the question for its number, and that question: Citus wants it asked by a statement of its own."""
    asked = _FOLLOWING.search(sql)
    return (sql, None) if asked is None else (sql.replace(asked[0], NUMBER), asked[0][1:-1])
