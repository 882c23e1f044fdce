"""A real S3 server on loopback (moto), and a proxy before it that counts requests and makes faults."""

from __future__ import annotations

import contextlib
import http.client
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
DENIED = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
_OPERATIONS = (  # method, what the query or a header has, name of the API
    ("POST", "delete", "DeleteObjects"),
    ("POST", "uploads", "CreateMultipartUpload"),
    ("POST", "uploadId", "CompleteMultipartUpload"),
    ("PUT", "uploadId", "UploadPart"),
    ("DELETE", "uploadId", "AbortMultipartUpload"),
    ("GET", "uploads", "ListMultipartUploads"),
    ("GET", "list-type", "ListObjectsV2"),
    ("PUT", "x-amz-copy-source", "CopyObject"),
    ("GET", "", "GetObject"),
    ("HEAD", "", "HeadObject"),
    ("PUT", "", "PutObject"),
    ("DELETE", "", "DeleteObject"),
)


@dataclass(frozen=True)
class Request:
    """A request as it came: the API's name, the object's key (or the listed prefix)."""

    operation: str
    key: str
    agent: str = ""

    def __str__(self) -> str:
        return f"{self.operation} {self.key}"


# What a fault may be: "slow down" and "denied" answer so; "drop" hangs up before the server hears of it,
# "lose" after it has done it; "break" answers half of the body; "hang" says
# nothing for long; "unconditional" has the server write whatever is there.
Fault = Callable[[Request], str | None]


@dataclass
class Proxy:
    """Between clients and the server. `fault` says of each request what is to go wrong with it."""

    port: int
    requests: list[Request] = field(default_factory=list)
    fault: Fault | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def count(self, pattern: str = "") -> int:
        """Requests that match."""
        return sum(bool(re.search(pattern, str(r))) for r in self.requests)

    def operations(self) -> set[str]:
        """The API calls that were made."""
        return {r.operation for r in self.requests}


@contextlib.contextmanager
def s3_server() -> Iterator[int]:
    """A server in this process; gives its port."""
    import logging

    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        yield server.get_host_and_port()[1]
    finally:
        server.stop()


@contextlib.contextmanager
def proxy_to(port: int) -> Iterator[Proxy]:
    """A proxy before the server at `port`."""
    proxy = Proxy(0)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(proxy, port))
    server.daemon_threads = True
    proxy.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()


def _handler(proxy: Proxy, port: int) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16

        def _pass(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            if self.headers.get("expect"):
                self.send_response_only(100)
                self.end_headers()
                self.wfile.flush()
            body = self.rfile.read(length) if length else b""
            request = self._request()
            proxy.requests.append(request)
            fault = proxy.fault(request) if proxy.fault else None
            if fault in ("slow down", "denied"):
                self._answer(*((503, SLOW_DOWN) if fault == "slow down" else (403, DENIED)))
                return
            if fault == "hang":
                time.sleep(5)
            if fault in ("drop", "hang"):
                self.close_connection = True
                self.connection.close()
                return
            status, headers, data = self._ask(body, unconditional=fault == "unconditional")
            if fault == "lose":
                self.close_connection = True
                self.connection.close()
                return
            self.send_response_only(status)
            for name, value in headers:
                if name.lower() not in ("transfer-encoding", "connection", "content-length", "server"):
                    self.send_header(name, value)
            size = len(data)
            if self.command == "HEAD":
                size = int(next((v for n, v in headers if n.lower() == "content-length"), 0))
            if status not in (204, 304):
                self.send_header("Content-Length", str(size))
            self.end_headers()
            if fault == "break":
                self.wfile.write(data[: len(data) // 2])
                self.wfile.flush()
                self.close_connection = True
                return
            self.wfile.write(data)

        def _ask(
            self, body: bytes, *, unconditional: bool = False
        ) -> tuple[int, list[tuple[str, str]], bytes]:
            behind = http.client.HTTPConnection("127.0.0.1", port)
            try:
                headers = {k: v for k, v in self.headers.items() if k.lower() not in ("expect", "connection")}
                if unconditional:
                    headers = {k: v for k, v in headers.items() if not k.lower().startswith("if-")}
                behind.request(self.command, self.path, body, headers)
                answer = behind.getresponse()
                return answer.status, answer.getheaders(), answer.read()
            finally:
                behind.close()

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response_only(status)
            self.send_header("Content-Type", "application/xml")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def _request(self) -> Request:
            parts = urlsplit(self.path)
            query = parse_qs(parts.query, keep_blank_values=True)
            key = unquote(parts.path).lstrip("/").partition("/")[2]
            agent = self.headers.get("user-agent", "")
            for method, has, name in _OPERATIONS:
                if method == self.command and (not has or has in query or self.headers.get(has)):
                    if not key and name == "GetObject":
                        break
                    return Request(name, key or query.get("prefix", [""])[0], agent)
            return Request(f"{self.command} {parts.path}?{parts.query}", key, agent)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _pass

        def log_message(self, format: str, *args: Any) -> None:
            """Tests need no log."""

        def handle(self) -> None:
            with contextlib.suppress(ConnectionError, BrokenPipeError, ValueError):
                super().handle()

    return Handler
