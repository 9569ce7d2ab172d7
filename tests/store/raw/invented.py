"""What the tests of the raw store keep. All of it is invented."""

import hashlib

URL = "https://data.example/series?id=1"
BODY = b"invented,1\n" * 50
SHA = hashlib.sha256(BODY).hexdigest()
OBJECT = f"objects/{SHA[:2]}/{SHA}.zst"


def keep(store, body=BODY, source="sandbox-one", url=URL, fetched_at=1_000, clock=2_000, **more):
    return store.keep(source, url, body, "text/csv", fetched_at, clock, **more)


def files(root):
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def flaws(store):
    """Read a raw store whole and return the faults found."""
    return [flaw for _, flaw in store.checked() if flaw is not None]
