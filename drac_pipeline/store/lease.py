"""Being the only one, over object storage: an object that says who is at work, made and replaced by
conditional writes.

A lease is renewed while its holder lives. One that was not renewed for its time (by the server's clock),
or whose process is gone from this machine, is taken over by the next who wants it: a killed process
leaves no lock behind. A lease orders work; what keeps manifests whole is that each is replaced only by
who has read it, lease or none.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import random
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drac_pipeline.errors import StorageError
from drac_pipeline.s3.bucket import Bucket, Conflict, NotThere

log = logging.getLogger(__name__)

_POLL_SECONDS = (0.1, 2.0)


@dataclass
class _Held:
    bucket: Bucket
    key: str
    etag: str
    body: bytes
    seconds: float
    renewed: float = field(default_factory=time.monotonic)
    lock: threading.Lock = field(default_factory=threading.Lock)


@contextlib.contextmanager
def lease(
    bucket: Bucket, key: str, seconds: float, on_abandoned: Callable[[], None] | None = None
) -> Iterator[None]:
    """Hold the lease object `key`; waits for whoever does. `on_abandoned` is called, with the lease held,
    where it had to be taken from a holder that died. Raises StorageError."""
    held = _acquire(bucket, key, seconds, on_abandoned)
    _KEEPER.add(held)
    try:
        yield
    finally:
        _KEEPER.remove(held)
        with held.lock, contextlib.suppress(Conflict):
            try:
                bucket.delete(key, only=held.etag)
            except StorageError as e:  # it ends by itself
                log.warning("%s could not be let go: %s", bucket.address(key), e)


def _acquire(bucket: Bucket, key: str, seconds: float, on_abandoned: Callable[[], None] | None) -> _Held:
    body = _body()
    pause, longest = _POLL_SECONDS
    while True:
        with contextlib.suppress(Conflict):
            return _Held(bucket, key, bucket.put(key, body, new=True), body, seconds)
        try:
            there = bucket.get(key)
        except NotThere:
            continue
        assert there is not None
        if there.data == body:  # it is ours: the answer to an earlier attempt was lost
            return _Held(bucket, key, there.etag, body, seconds)
        if there.age > seconds or _is_dead(there.data):
            with contextlib.suppress(Conflict):
                held = _Held(bucket, key, bucket.put(key, body, replaces=there.etag), body, seconds)
                if on_abandoned:
                    on_abandoned()
                return held
            continue
        time.sleep(pause * random.uniform(0.5, 1.0))
        pause = min(2 * pause, longest)


class _Keeper:
    """Renews the leases of this process; a thread of its own, while there are any."""

    def __init__(self) -> None:
        self._held: dict[int, _Held] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._held, self._lock, self._thread = {}, threading.Lock(), None

    def add(self, held: _Held) -> None:
        with self._lock:
            self._held[id(held)] = held
            if self._thread is None:
                self._thread = threading.Thread(target=self._keep, name="drac-leases", daemon=True)
                self._thread.start()

    def remove(self, held: _Held) -> None:
        with self._lock:
            self._held.pop(id(held), None)

    def _keep(self) -> None:
        idle = 0
        while True:
            time.sleep(0.5)
            with self._lock:
                if not self._held:
                    idle += 1
                    if idle > 20:
                        self._thread = None
                        return
                    continue
                idle = 0
                due = [h for h in self._held.values() if time.monotonic() - h.renewed > h.seconds / 3]
            for held in due:
                self._renew(held)

    def _renew(self, held: _Held) -> None:
        with held.lock:
            if id(held) not in self._held:
                return
            try:
                held.etag = held.bucket.put(held.key, held.body, replaces=held.etag)
            except Conflict:
                self._held.pop(id(held), None)
                log.warning("%s was taken over: this process was too slow", held.bucket.address(held.key))
            except StorageError as e:
                log.warning("%s was not renewed: %s", held.bucket.address(held.key), e)
            held.renewed = time.monotonic()


_KEEPER = _Keeper()


def _body() -> bytes:
    pid = os.getpid()
    who = {"owner": uuid.uuid4().hex, "host": _host(), "pid": pid, "started": _started(pid)}
    return json.dumps(who).encode()


def _is_dead(data: bytes) -> bool:
    """Whether the holder was a process of this machine that is gone."""
    try:
        who: dict[str, Any] = json.loads(data)
        return who["host"] == _host() and _started(int(who["pid"])) != who["started"]
    except (ValueError, KeyError, TypeError):
        return False


def _host() -> str:
    """This machine since its last start, as far as process numbers mean the same."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        space = Path("/proc/self/ns/pid").readlink().name
    except OSError:
        return f"{socket.gethostname()} {uuid.getnode():x}"
    return f"{socket.gethostname()} {boot} {space}"


def _started(pid: int) -> str:
    """When a process was started, in the system's ticks; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
