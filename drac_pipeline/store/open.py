"""The store that `[store]` describes."""

from __future__ import annotations

from pathlib import Path

from drac_pipeline.config import StoreConfig
from drac_pipeline.s3.address import BucketAddress
from drac_pipeline.s3.connection import Connection
from drac_pipeline.store.objects import ObjectStore


def open_object_store(config: StoreConfig, home: Path, connection: Connection) -> ObjectStore:
    """The store in a bucket, for a home on this machine. Raises ConfigError where the address is none."""
    return ObjectStore(
        BucketAddress.parse(config.url),
        connection,
        state=home / "model",
        cache=home / config.cache if config.cache else home / "cache",
        cache_bytes=int(config.cache_gb * 1e9),
        lease_seconds=config.lease_seconds,
    )
