"""How a service that speaks S3 is reached: a client of each process for each connection."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from typing import Any

from drac_pipeline.config import StoreConfig

_LOCK = threading.Lock()
_CLIENTS: dict[tuple[int, Connection], Any] = {}


@dataclass(frozen=True)
class Connection:
    """Where the service is and how patient to be. What is empty is as boto3 finds it: environment,
    profile, role. `attempts` counts the first one; `timeout` is in seconds, for connecting and for each
    wait for an answer."""

    endpoint_url: str = ""
    region: str = ""
    profile: str = ""
    attempts: int = 6
    timeout: float = 30.0
    in_parallel: int = 16
    access_key: str = ""
    secret_key: str = field(default="", repr=False)
    session_token: str = field(default="", repr=False)

    @classmethod
    def of(cls, config: StoreConfig) -> Connection:
        """The connection that `[store]` describes."""
        return cls(
            endpoint_url=config.endpoint_url,
            region=config.region,
            profile=config.profile,
            attempts=config.attempts,
            timeout=config.timeout_seconds,
            in_parallel=config.requests_in_parallel,
        )

    def client(self) -> Any:
        """The S3 client; made once a process, for all threads."""
        key = (os.getpid(), self)  # a fork must not share sockets
        with _LOCK:
            if key not in _CLIENTS:
                _CLIENTS[key] = self._new_client()
            return _CLIENTS[key]

    def session(self) -> Any:
        """The boto3 session. Raises botocore's ProfileNotFound."""
        import boto3

        return boto3.Session(
            profile_name=self.profile or None,
            region_name=self.region or None,
            aws_access_key_id=self.access_key or None,
            aws_secret_access_key=self.secret_key or None,
            aws_session_token=self.session_token or None,
        )

    def _new_client(self) -> Any:
        from botocore.config import Config

        config = Config(
            retries={"mode": "standard", "total_max_attempts": self.attempts},
            connect_timeout=min(self.timeout, 10.0),
            read_timeout=self.timeout,
            max_pool_connections=self.in_parallel + 4,
            user_agent_extra="drac-pipeline",
        )
        return self.session().client("s3", endpoint_url=self.endpoint_url or None, config=config)

    def lance_options(self) -> dict[str, str]:
        """What LanceDB wants to know to reach the same service as the same person.

        Raises StorageError where nobody says who that is.
        """
        from botocore.exceptions import BotoCoreError, NoCredentialsError

        from drac_pipeline.s3.errors import storage_error

        try:
            session, client = self.session(), self.client()
            credentials = session.get_credentials()
            if credentials is None:
                raise NoCredentialsError
            frozen = credentials.get_frozen_credentials()
        except BotoCoreError as e:
            raise storage_error(e, "opening the index") from e
        endpoint = client.meta.endpoint_url
        options = {"aws_region": session.region_name or client.meta.region_name or "us-east-1"}
        if self.endpoint_url or "amazonaws.com" not in endpoint:
            options["aws_endpoint"] = endpoint
            options["allow_http"] = str(endpoint.startswith("http://")).lower()
        options["aws_access_key_id"] = frozen.access_key or ""
        options["aws_secret_access_key"] = frozen.secret_key or ""
        if frozen.token:
            options["aws_session_token"] = frozen.token
        options["client_max_retries"] = str(self.attempts)
        options["timeout"] = f"{self.timeout:g}s"
        return options
