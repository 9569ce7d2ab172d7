"""Objects in an S3 bucket. Each is either whole or absent, because it is written by one request."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from datetime import timedelta

import obstore
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    NotFoundError,
    PermissionDeniedError,
    UnauthenticatedError,
)
from obstore.store import S3Store

#: Name of an empty object, used to test whether creating a taken name is refused.
_PROBE = "conditional-put"
#: Time limits for one request, and for a failing one with its retries.
_REQUEST, _TRYING = timedelta(seconds=120), timedelta(seconds=20)
#: Retries of a request without an answer, or with a status of 500 and above.
_RETRIES = 3
#: Errors of the library for a missing object, and all its errors.
_MISSING = (NotFoundError, FileNotFoundError)
_ERRORS = (BaseError, NotImplementedError, OSError, ValueError)
#: The server's words in its answer, and the signs of a refusal: its status, or the metadata address that the library
#: asks without credentials.
_ANSWER = re.compile(r"<(Code|Message)>([^<]*)</\1>")
_REFUSED = re.compile(r"status code: 40[13]|/latest/(api/token|meta-data)")
#: Characters of the library's message that are read, and that are quoted.
_READ, _REASON = 20_000, 300


class Bucket:
    """
    `Blobs` in a bucket under a prefix: `s3://bucket/prefix`. Endpoint, region and credentials come from the `AWS_…`
    variables.

    Every failure is an OSError that names the bucket: ConnectionError if the server can't be reached or misbehaves,
    PermissionError, and FileNotFoundError if the bucket doesn't exist.
    """

    #: Each request costs a round trip, and most pieces are small index files.
    at_once = 32

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        name, _, prefix = self._url.removeprefix("s3://").partition("/")
        with self._faults():
            self._store = S3Store(
                name,
                prefix=prefix or None,
                # Use the endpoint as given, even over HTTP.
                client_options={"allow_http": True, "timeout": _REQUEST},
                retry_config={"max_retries": _RETRIES, "retry_timeout": _TRYING},
                config={"conditional_put": "etag"},
            )

    def __repr__(self) -> str:
        return f"Bucket({self._url!r})"

    def check(self) -> None:
        """
        Check that the server refuses to create a name twice, by writing a probe at most two times.

        A server without conditional puts would let a second writer overwrite the first one's record of when a payload
        came, so nothing else is written to it.
        """
        if self.create(_PROBE, b"") and self.create(_PROBE, b""):
            raise OSError(
                f"ALMANAC_RAW_URL: {self._url}: this server overwrites what it is asked to create "
                f"(it ignores If-None-Match); allowed: a server with conditional puts, or a folder"
            )

    def get(self, name: str) -> bytes | None:
        with self._faults():
            try:
                return obstore.get(self._store, name).bytes().to_bytes()
            except _MISSING as error:
                if "NoSuchBucket" in str(error):
                    raise
                return None

    def put(self, name: str, content: bytes) -> None:
        with self._faults():
            obstore.put(self._store, name, content, use_multipart=False)

    def create(self, name: str, content: bytes) -> bool:
        with self._faults():
            try:
                obstore.put(self._store, name, content, mode="create", use_multipart=False)
            except AlreadyExistsError:
                return False
            return True

    def names(self, prefix: str) -> Iterator[str]:
        # S3 lists in byte order, but not every server promises it.
        yield from sorted(name for name, _ in self._listed(prefix))

    def size(self, prefix: str) -> int:
        return sum(size for _, size in self._listed(prefix))

    def tidy(self) -> int:
        """Return 0: nothing is ever left behind, because an object exists only once its single request has ended."""
        return 0

    def _listed(self, prefix: str) -> Iterator[tuple[str, int]]:
        with self._faults():
            for page in obstore.list(self._store, prefix):
                for one in page:
                    yield one["path"], one["size"]

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        """Raise the library's errors as OSError, each with a sentence."""
        try:
            yield
        except _ERRORS as error:
            raise self._as_os_error(error) from None

    def _as_os_error(self, error: Exception) -> OSError:
        """
        Translate an error of the library to an OSError that says what to do. Its words quote addresses and answers, but
        no secrets.
        """
        words = " ".join(str(error).partition("Debug source")[0].split())
        answer = dict(_ANSWER.findall(words[:_READ]))
        told = ", ".join(answer[name] for name in ("Code", "Message") if name in answer)
        reason = told or words.rpartition(" - ")[2][:_REASON]
        kind: type[OSError] = ConnectionError
        sentence = "the storage cannot be reached, or does not answer as it should (AWS_ENDPOINT_URL says where it is)"
        if "NoSuchBucket" in words:
            kind = FileNotFoundError
            sentence = "there is no such bucket; make it, or name one that is there"
        elif isinstance(error, (PermissionDeniedError, UnauthenticatedError)) or _REFUSED.search(words):
            kind = PermissionError
            sentence = (
                "the storage lets nobody in without, or not with these credentials; allowed: AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY of somebody who may list, get and put objects there"
            )
        return kind(f"ALMANAC_RAW_URL: {self._url}: {sentence}: {reason}")
