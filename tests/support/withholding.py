"""Rights that change: a source of a store that was public is restricted."""

import msgspec

from almanac.store.engine.data_schema import set_meta
from tests.support.service import Service

WHY = "Its owner said no; invented."


def withhold(service: Service, source: str) -> None:
    """A source, restricted: nothing of it and nothing made of it may be passed on."""
    with service.world() as world, world.batch("test") as batch:
        batch.touch()
        found = world.db.execute("SELECT body FROM record WHERE kind = 'source' AND id = ?", (source,)).get
        told = msgspec.json.decode(found)
        told["rights"] |= {"exposure": 2, "reason": WHY, "derivativesAllowed": False}
        body = msgspec.json.encode(told).decode()
        world.db.execute("UPDATE record SET body = ? WHERE kind = 'source' AND id = ?", (body, source))
        set_meta(world.db, "reference", str(batch.version))
