"""An S3 server for the tests of this folder, a bucket of their own each, and a proxy that makes faults."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from drac_pipeline.s3.bucket import Bucket
from drac_pipeline.s3.connection import Connection
from drac_pipeline_tests.s3.server import Proxy, proxy_to, s3_server

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def server_port() -> Iterator[int]:
    with s3_server() as port:
        yield port


@pytest.fixture(scope="session")
def session_proxy(server_port: int) -> Iterator[Proxy]:
    with proxy_to(server_port) as proxy:
        yield proxy


@pytest.fixture
def proxy(session_proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> Proxy:
    """The way to the server: what was asked so far is forgotten, and nothing goes wrong yet."""
    session_proxy.fault = None
    session_proxy.requests.clear()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", session_proxy.url)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return session_proxy


@pytest.fixture
def bucket(proxy: Proxy) -> Bucket:
    """An empty bucket, reached through the proxy."""
    connection = Connection(endpoint_url=proxy.url, attempts=3, timeout=2.0)
    name = f"bucket-{next(_NUMBERS)}"
    connection.client().create_bucket(Bucket=name)
    proxy.requests.clear()
    return Bucket(name, connection)
