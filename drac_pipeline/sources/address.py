"""What a person writes to name a source: a folder, a file, or a place in a bucket."""

from __future__ import annotations

from pathlib import Path

from drac_pipeline.s3.address import BucketAddress, is_bucket_address
from drac_pipeline.sources.paths import path_of_text, path_text

SourceAddress = Path | BucketAddress


def source_address(text: str | SourceAddress) -> SourceAddress:
    """The address that a person wrote. Raises ConfigError for one that begins like a bucket's and is none."""
    if isinstance(text, BucketAddress):
        return text
    if isinstance(text, str) and is_bucket_address(text):
        return BucketAddress.parse(text)
    return Path(text).expanduser().absolute()


def address_text(source: SourceAddress) -> str:
    """The address in one line."""
    if isinstance(source, BucketAddress):
        return str(source)
    return source.as_uri() if "\n" in str(source) else path_text(source)


def address_of_text(line: str) -> SourceAddress:
    """The address that `address_text` wrote."""
    return BucketAddress.parse(line) if is_bucket_address(line) else path_of_text(line)
