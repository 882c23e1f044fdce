"""Requests to one bucket, each with its typed error; whatever is read or written is whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, TypeVar

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    IncompleteReadError,
    ReadTimeoutError,
    ResponseStreamingError,
)

from drac_pipeline.errors import StorageError
from drac_pipeline.s3.connection import Connection
from drac_pipeline.s3.errors import storage_error

PART_BYTES = 16 << 20  # larger files go up in parts
_BLOCK = 1 << 20
_AT_ONCE = 1000  # objects a DeleteObjects request may name
_DROPPED = (ReadTimeoutError, ResponseStreamingError, IncompleteReadError, ConnectionClosedError)
A = TypeVar("A")
B = TypeVar("B")


class NotThere(StorageError):
    """The object does not exist."""

    kind = "not there"


class Conflict(StorageError):
    """The object is not (any more) what the request supposed."""

    kind = "changed meanwhile"


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """An object as a listing or an answer describes it: `size` in bytes, `modified` in nanoseconds since
    the epoch (whole seconds, as S3 has it)."""

    key: str
    etag: str
    size: int
    modified: int


@dataclass(frozen=True, slots=True)
class Got:
    """An object's bytes, and by the server's clock how many seconds ago they were written."""

    data: bytes
    etag: str
    age: float = 0.0


class Bucket:
    """A bucket over a connection. Every method raises StorageError; threads may share it."""

    def __init__(self, name: str, connection: Connection) -> None:
        self.name = name
        self.connection = connection

    @property
    def _client(self) -> Any:
        return self.connection.client()

    def address(self, key: str = "") -> str:
        """`s3://bucket/key`."""
        return f"s3://{self.name}/{key}" if key else f"s3://{self.name}"

    @contextlib.contextmanager
    def _asking(self, what: str, key: str = "") -> Iterator[None]:
        try:
            yield
        except ClientError as e:
            code = str(e.response.get("Error", {}).get("Code", ""))
            status = int(e.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
            told = f"{what} {self.address(key)}"
            if code == "NoSuchKey" or (status == 404 and code in ("404", "NotFound")):
                raise NotThere(f"{self.address(key)} does not exist") from e
            if status in (409, 412):
                raise Conflict(f"{told}: {code}") from e
            raise storage_error(e, told) from e
        except BotoCoreError as e:
            raise storage_error(e, f"{what} {self.address(key)}") from e

    # --------------------------------------------------------------- reading

    def list(self, prefix: str = "", *, at_most: int = 0) -> Iterator[ObjectInfo]:
        """The objects whose keys begin with `prefix`, by key: a request for each thousand."""
        asked: dict[str, Any] = {"Bucket": self.name, "Prefix": prefix}
        if at_most:
            asked["MaxKeys"] = at_most
        while True:
            with self._asking("LIST", prefix):
                page = self._client.list_objects_v2(**asked)
            for o in page.get("Contents", ()):
                yield ObjectInfo(o["Key"], o["ETag"], o["Size"], _ns(o["LastModified"]))
            if at_most or not page.get("IsTruncated"):
                return
            asked["ContinuationToken"] = page["NextContinuationToken"]

    def head(self, key: str) -> ObjectInfo | None:
        """What the object is; None where it does not exist."""
        try:
            with self._asking("HEAD", key):
                return _info(key, self._client.head_object(Bucket=self.name, Key=key))
        except NotThere:
            return None

    def get(self, key: str, unless: str = "") -> Got | None:
        """The object; None where its ETag is still `unless`. Raises NotThere."""
        asked = {"IfNoneMatch": unless} if unless else {}

        def read() -> Got:
            answer = self._client.get_object(Bucket=self.name, Key=key, **asked)
            return Got(answer["Body"].read(), answer["ETag"], _age(answer))

        try:
            with self._asking("GET", key):
                return self._patiently(read)
        except StorageError as e:
            if isinstance(e.__cause__, ClientError) and _status(e.__cause__) == 304:
                return None
            raise

    def download(self, key: str, target: Path, etag: str = "") -> tuple[ObjectInfo, str]:
        """Write the object to `target`, whole or not at all; gives what it is and the SHA-256 of its bytes.

        Raises NotThere, and Conflict where its ETag is not `etag`.
        """
        asked = {"IfMatch": etag} if etag else {}
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.parent / f".tmp-{uuid.uuid4().hex}"

        def read() -> tuple[ObjectInfo, str]:
            answer = self._client.get_object(Bucket=self.name, Key=key, **asked)
            digest = hashlib.sha256()
            with temporary.open("wb") as f:
                for block in answer["Body"].iter_chunks(_BLOCK):
                    digest.update(block)
                    f.write(block)
            return _info(key, answer), digest.hexdigest()

        try:
            with self._asking("GET", key):
                found = self._patiently(read)
            temporary.replace(target)
            return found
        finally:
            temporary.unlink(missing_ok=True)

    def _patiently(self, read: Callable[[], A]) -> A:
        """An answer whose body breaks off is asked for again; botocore does so for the rest."""
        for attempt in range(self.connection.attempts - 1):
            try:
                return read()
            except _DROPPED:
                time.sleep(min(0.1 * 2**attempt, 5.0))
        return read()

    # --------------------------------------------------------------- writing

    def put(self, key: str, data: bytes, *, replaces: str = "", new: bool = False) -> str:
        """Write the object in one request; gives its ETag. Raises Conflict where it is not (`replaces`) the
        version of that ETag, or (`new`) already there."""
        asked = {"IfMatch": replaces} if replaces else {"IfNoneMatch": "*"} if new else {}
        try:
            with self._asking("PUT", key):
                answer = self._client.put_object(Bucket=self.name, Key=key, Body=data, **asked)
        except NotThere as e:
            if replaces:
                raise Conflict(e.cause) from e
            raise
        return answer["ETag"]

    def upload(self, key: str, path: Path) -> None:
        """Write the file; it is there when it is there whole, in one request or in parts."""
        with self._asking("PUT", key):
            if path.stat().st_size <= PART_BYTES:
                self._client.put_object(Bucket=self.name, Key=key, Body=path.read_bytes())
                return
            from boto3.exceptions import S3UploadFailedError
            from boto3.s3.transfer import TransferConfig

            config = TransferConfig(multipart_threshold=PART_BYTES, multipart_chunksize=PART_BYTES)
            try:
                self._client.upload_file(str(path), self.name, key, Config=config)
            except S3UploadFailedError as e:
                cause = e.__context__ or e.__cause__
                if isinstance(cause, ClientError | BotoCoreError):
                    raise cause from e
                raise StorageError(f"PUT {self.address(key)}: {e}") from e

    def copy(self, source: str, target: str) -> None:
        """Copy an object within the bucket, on the server. Raises NotThere."""
        with self._asking("COPY", source):
            self._client.copy(
                {"Bucket": self.name, "Key": source}, self.name, target
            )  # in parts where it is very large

    def delete(self, key: str, *, only: str = "") -> None:
        """Delete the object, if it is there. Raises Conflict where its ETag is not `only`."""
        asked = {"IfMatch": only} if only else {}
        with contextlib.suppress(NotThere), self._asking("DELETE", key):
            self._client.delete_object(Bucket=self.name, Key=key, **asked)

    def delete_all(self, keys: Iterable[str]) -> None:
        """Delete these objects, a thousand a request; those that are not there do not matter."""
        every = list(keys)
        for start in range(0, len(every), _AT_ONCE):
            part = every[start : start + _AT_ONCE]
            with self._asking("DELETE", part[0]):
                answer = self._client.delete_objects(
                    Bucket=self.name, Delete={"Objects": [{"Key": k} for k in part], "Quiet": True}
                )
            if left := [e for e in answer.get("Errors", ()) if e.get("Code") != "NoSuchKey"]:
                first = ClientError({"Error": left[0]}, "DeleteObjects")
                raise storage_error(first, f"DELETE {self.address(left[0].get('Key', ''))}")

    def abort_uploads(self, prefix: str, older_than: float) -> int:
        """End uploads in parts that nobody has finished for `older_than` seconds; gives their number."""
        n = 0
        asked: dict[str, Any] = {"Bucket": self.name, "Prefix": prefix}
        while True:
            with self._asking("LIST", prefix):
                page = self._client.list_multipart_uploads(**asked)
            for upload in page.get("Uploads", ()):
                if (datetime.now(UTC) - upload["Initiated"]).total_seconds() > older_than:
                    with contextlib.suppress(NotThere), self._asking("DELETE", upload["Key"]):
                        self._client.abort_multipart_upload(
                            Bucket=self.name, Key=upload["Key"], UploadId=upload["UploadId"]
                        )
                    n += 1
            if not page.get("IsTruncated"):
                return n
            asked["KeyMarker"] = page["NextKeyMarker"]
            asked["UploadIdMarker"] = page["NextUploadIdMarker"]

    def in_parallel(self, do: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
        """`do` for each item, some at a time, in their order; the first error ends it."""
        every = list(items)
        if len(every) < 2:
            yield from map(do, every)
            return
        with ThreadPoolExecutor(min(self.connection.in_parallel, len(every))) as pool:
            try:
                yield from pool.map(do, every)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _info(key: str, answer: Any) -> ObjectInfo:
    return ObjectInfo(
        key,
        answer["ETag"],
        answer["ContentLength"],
        _ns(answer["LastModified"]),
    )


def _ns(moment: datetime) -> int:
    return int(moment.timestamp()) * 1_000_000_000


def _age(answer: Any) -> float:
    date = answer["ResponseMetadata"]["HTTPHeaders"].get("date")
    now = parsedate_to_datetime(date) if date else datetime.now(UTC)
    return (now - answer["LastModified"]).total_seconds()


def _status(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
