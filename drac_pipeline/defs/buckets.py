"""The home as a resource that reaches its buckets by Dagster's own S3 resource."""

from dataclasses import replace
from pathlib import Path

from dagster_aws.s3 import S3Resource

from drac_pipeline.config import StoreConfig
from drac_pipeline.defs.resources import HomeResource
from drac_pipeline.s3.connection import Connection
from drac_pipeline.store import Home


class BucketHomeResource(HomeResource):
    """A home whose store or sources are in buckets. What `s3` says (endpoint, region, profile, keys) comes
    before `[store]` of the home; what it leaves out is as `[store]` or the environment says."""

    s3: S3Resource

    def open(self) -> Home:
        """The home. Raises ConfigError where none is named."""
        home = super().open()
        return Home(Path(home.path), connection_by(self.s3, home.config.store))


def s3_resource(config: StoreConfig) -> S3Resource:
    """The S3 resource that `[store]` describes."""
    return S3Resource(
        endpoint_url=config.endpoint_url or None,
        region_name=config.region or None,
        profile_name=config.profile or None,
        max_attempts=config.attempts,
    )


def connection_by(s3: S3Resource, config: StoreConfig) -> Connection:
    """The connection that a resource describes, with the patience of `[store]`."""
    given = {
        "endpoint_url": s3.endpoint_url,
        "region": s3.region_name,
        "profile": s3.profile_name,
        "access_key": s3.aws_access_key_id,
        "secret_key": s3.aws_secret_access_key,
        "session_token": s3.aws_session_token,
        "attempts": s3.max_attempts,
    }
    return replace(Connection.of(config), **{k: v for k, v in given.items() if v})
