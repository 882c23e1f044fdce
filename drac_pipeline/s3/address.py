"""`s3://bucket/prefix`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

from drac_pipeline.errors import ConfigError

SCHEME = "s3://"
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{1,254}")


@dataclass(frozen=True, slots=True)
class BucketAddress:
    """A place in a bucket: the whole of it, what lies below a prefix, or one object. Names are as they
    are, not percent-encoded."""

    bucket: str
    prefix: str = ""

    @classmethod
    def parse(cls, text: str) -> BucketAddress:
        """The address that `text` writes. Raises ConfigError."""
        if not is_bucket_address(text):
            raise ConfigError(f"{text!r} is no address of a bucket; write s3://bucket/prefix")
        bucket, _, prefix = text[len(SCHEME) :].partition("/")
        if not bucket:
            raise ConfigError(
                f"{text!r} names no bucket; write s3://bucket/prefix, or s3://bucket for all of it"
            )
        if not _BUCKET.fullmatch(bucket):
            raise ConfigError(
                f"{text!r}: {bucket!r} cannot name a bucket (letters, digits, dots, hyphens);"
                " write s3://bucket/prefix"
            )
        return cls(bucket, prefix)

    def __str__(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.prefix}".rstrip("/") if self.prefix else f"{SCHEME}{self.bucket}"

    @property
    def folder(self) -> str:
        """The prefix with one slash at its end; empty for the whole bucket."""
        return f"{self.prefix.rstrip('/')}/" if self.prefix.strip("/") else ""

    def check_apart(self, store: str) -> None:
        """Raises ConfigError where this, as a source, lies within the store of that address."""
        if store and f"{self}/".startswith(f"{store.rstrip('/')}/"):
            raise ConfigError(f"source {self}: it lies in the store of this home ({store}); documents do not")

    def object(self, key: str) -> str:
        """The address of an object of this bucket."""
        return f"{SCHEME}{self.bucket}/{key}"


def is_bucket_address(text: str) -> bool:
    """Whether `text` means a place in a bucket and no file."""
    return text.startswith(SCHEME)


def link(text: str) -> str:
    """The address percent-encoded, as links want it."""
    return SCHEME + quote(text[len(SCHEME) :])
