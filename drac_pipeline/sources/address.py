"""What a person writes to name a source: a folder, a file, or a place in a bucket."""

from __future__ import annotations

import re
from pathlib import Path

from drac_pipeline.errors import ConfigError
from drac_pipeline.s3.address import BucketAddress, is_bucket_address
from drac_pipeline.sources.paths import path_of_text, path_text

SourceAddress = Path | BucketAddress
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
_TAKEN = "a source is a folder, a file, or s3://bucket/prefix"
_DOWNLOAD = "web pages are not fetched: download them into a folder first, and give that; "
_NO_SOURCE = {
    "http": _DOWNLOAD,
    "https": _DOWNLOAD,
    "file": "give the path without file://; ",
    "s3": "a place in a bucket begins with s3:// in small letters; ",
}


def source_address(text: str | SourceAddress) -> SourceAddress:
    """The address that a person wrote. Raises ConfigError for one that begins like a bucket's and is none,
    and for another URL: a source is a folder, a file, or a place in a bucket."""
    if isinstance(text, BucketAddress):
        return text
    if isinstance(text, str) and is_bucket_address(text):
        return BucketAddress.parse(text)
    path = Path(text).expanduser().absolute()
    if isinstance(text, str) and (url := _URL.match(text)) and not path.exists():
        raise ConfigError(f"source {text}: {_NO_SOURCE.get(url[1].lower(), '')}{_TAKEN}")
    return path


def address_text(source: SourceAddress) -> str:
    """The address in one line."""
    if isinstance(source, BucketAddress):
        return str(source)
    return source.as_uri() if "\n" in str(source) else path_text(source)


def address_of_text(line: str) -> SourceAddress:
    """The address that `address_text` wrote."""
    return BucketAddress.parse(line) if is_bucket_address(line) else path_of_text(line)
