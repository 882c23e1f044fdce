"""The source that an address means: a folder, a file, or a place in a bucket."""

from __future__ import annotations

from drac_pipeline.config import SourceConfig
from drac_pipeline.s3.address import BucketAddress
from drac_pipeline.sources.address import SourceAddress
from drac_pipeline.sources.fingerprint import FingerprintCache
from drac_pipeline.sources.folder import FolderSource
from drac_pipeline.sources.remote import Remote
from drac_pipeline.sources.source import Source


def open_source(
    address: SourceAddress,
    config: SourceConfig,
    remote: Remote,
    cache: FingerprintCache | None = None,
) -> Source:
    """The source at `address`. Raises ConfigError where there is none, StorageError where the bucket does
    not answer."""
    if isinstance(address, BucketAddress):
        from drac_pipeline.sources.bucket import BucketSource  # imports an SDK

        return BucketSource(address, config, remote, cache)
    return FolderSource(address, config, cache)
