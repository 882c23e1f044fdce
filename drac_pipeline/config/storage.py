"""Where artifacts are kept."""

from __future__ import annotations

from pydantic import Field, field_validator

from drac_pipeline.config.base import Settings


class StoreConfig(Settings):
    """Where artifacts and index are kept, and how buckets are reached: for the store, the index and sources
    alike. What is empty is as boto3 finds it: environment, profile, role."""

    url: str = Field(
        default="",
        description="s3://bucket/prefix for artifacts, manifests and index; empty: the home's folder store",
    )
    endpoint_url: str = Field(default="", description="a service other than Amazon's that speaks S3")
    region: str = Field(default="", description="AWS region; empty: as the environment says")
    profile: str = Field(default="", description="AWS profile; empty: likewise")
    cache: str = Field(
        default="", description="folder for copies of artifacts and documents; empty: cache in the home"
    )
    cache_gb: float = Field(default=20.0, gt=0, description="size that the copies are kept below, in GB")
    requests_in_parallel: int = Field(default=16, ge=1, description="most requests in flight of one process")
    attempts: int = Field(
        default=6, ge=1, description="how often a request is made that is throttled or not answered"
    )
    timeout_seconds: float = Field(default=30.0, gt=0, description="how long an answer may take")
    lease_seconds: float = Field(
        default=60.0,
        ge=5,
        description="after so long without a sign of life somebody else may go on with a document",
    )

    @field_validator("url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        if url and not url.startswith("s3://"):
            raise ValueError("write s3://bucket/prefix, or leave it empty for the home's folder store")
        return url.rstrip("/")
