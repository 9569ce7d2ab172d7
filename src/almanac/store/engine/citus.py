"""
The data's large tables distributed over several machines by Citus: which of them, by what, and when a write is there whole.

All rows of a topic stand on one machine: `topic` is the column that the large tables are distributed by, and is in each of
their keys. What they are joined with is on every machine; all else stays with the coordinator alone.

Each machine has a snapshot of its own, and commits a moment after the coordinator. Rows carry the versions between which
they hold, so a row that is too new is passed over; but a version must not be read before all its rows are there. So the
last that a write does is to mark each part with the change token, in the same two-phase commit, and a reader compares the
marks with the token it has read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from almanac.store.engine.errors import StoreError

#: Distributed by topic.
BY_TOPIC = ("vintages", "change")
#: On every machine.
EVERYWHERE = ("topic", "series", "spec", "preference", "lineage", "note")
#: One row in each part, and one on each machine: the change token of the last write that is there.
MARKS = "spread_mark"
COPIES = "spread_copy"
#: Said at the beginning of a write: each machine is spoken to over one connection, so that each statement sees the one before.
ONE_BY_ONE = (
    "SET LOCAL citus.multi_shard_modify_mode = 'sequential'; SET LOCAL citus.max_adaptive_executor_pool_size = 1"
)
INCOMPLETE = "a machine has yet to commit the last write: Citus sees to it within a minute of the machine's being there"
#: How long it is waited before the marks are read again, seconds.
_PAUSE = 0.005
#: How many keys are tried until each part has one.
_TRIED = 100_000
#: The newest token of which any connection of the process has seen all marks: readers go on with what the other machines
#: hold while one of them is away.
_complete: set[int] = set()

#: Runs a statement in PostgreSQL's own words and returns its rows.
Ask = Callable[[str], Sequence[Any]]


def is_distributed(ask: Ask) -> bool:
    """Return whether the tables of the schema are distributed."""
    return bool(ask(f"SELECT to_regclass('{MARKS}') IS NOT NULL")[0][0])


def check(ask: Ask) -> None:
    """Raise StoreError if the database has no Citus, or Citus knows of no machine to distribute to."""
    if not ask("SELECT 1 FROM pg_extension WHERE extname = 'citus'"):
        raise StoreError("the database has no Citus: CREATE EXTENSION citus, and name its machines (citus_add_node)")
    if not ask("SELECT 1 FROM pg_dist_node WHERE isactive AND shouldhaveshards AND noderole = 'primary'"):
        raise StoreError("Citus knows of no machine to spread to: name one by citus_add_node")


def distribute(ask: Ask, parts: int) -> None:
    """Distribute the data's tables with their rows, inside the caller's transaction. Raises StoreError if there are too many parts."""
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
    part = f"get_shard_id_for_distribution_column('{MARKS}', k)"
    keys = [key for (key,) in ask(f"SELECT min(k) FROM generate_series(1, {_TRIED}) k GROUP BY {part}")]
    if len(keys) != parts:
        raise StoreError(f"{parts} parts are more than can be told apart: ask for fewer")
    for key in keys:
        ask(f"INSERT INTO {MARKS} VALUES({key}, 0)")


def reclaim(ask: Ask) -> None:
    """Give back the space that the coordinator's own copies took, each table in a transaction of its own."""
    for table in (*BY_TOPIC, *EVERYWHERE):
        ask(f"SELECT truncate_local_data_after_distributing_table('{table}')")


def drop_marks(ask: Ask) -> int:
    """Drop the marks before the tables are made anew. Returns in how many parts the tables are; 0: not distributed."""
    if not is_distributed(ask):
        return 0
    ((parts,),) = ask(f"SELECT count(*) FROM {MARKS}")
    ask(f"DROP TABLE {MARKS}, {COPIES}")
    return int(parts)


def mark(token: int) -> str:
    """Return the statements that mark all parts with a token."""
    return f"UPDATE {MARKS} SET n = {token}; UPDATE {COPIES} SET n = {token}"


def is_complete(ask: Ask, token: int) -> bool:
    """Return whether all machines have what was written up to a token."""
    if token in _complete:
        return True
    ((marked,),) = ask(f"SELECT min(least(m.n, c.n)) FROM {MARKS} m CROSS JOIN {COPIES} c")
    if marked is None or marked < token:
        return False
    _complete.clear()
    _complete.add(token)
    return True


def attempts(milliseconds: int) -> Iterator[None]:
    """Yield again and again, for so long."""
    yield
    for _ in range(int(milliseconds / 1000 / _PAUSE)):
        time.sleep(_PAUSE)
        yield


def adapt(sql: str) -> str:
    """
    Say of a subquery in the condition of a join that it is about the table that is joined, not about the one before it.

    `JOIN vintages x ON x.topic = t.topic AND x.period = (SELECT … y.topic = t.topic …)`: only of `x` Citus knows that it
    stands beside `y`. It is not written so, because then SQLite finds no period by the key.
    """
    return sql.replace("y.topic = t.topic", "y.topic = x.topic").replace("y.topic = n.value", "y.topic = x.topic")
