"""A loopback server that speaks Bedrock Converse, OpenAI chat completions and embeddings of both, errors
included."""

from __future__ import annotations

import base64
import json
import re
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

from drac_pipeline.llm.doubles.brain import Brain, Said
from drac_pipeline.llm.doubles.faults import FaultPlan
from drac_pipeline.llm.doubles.vectors import vector_of

_CONVERSE = re.compile(r"/model/([^/]+)/converse$")
_INVOKE = re.compile(r"/model/([^/]+)/invoke$")
_SIGNED = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/\d{8}/(?P<region>[\w-]+)/bedrock/aws4_request, "
    r"SignedHeaders=(?P<headers>[\w;-]+), Signature=(?P<signature>[0-9a-f]{64})$"
)
# fault to (status, error type, message) as Bedrock sends them
_ERRORS = {
    "throttle": (429, "ThrottlingException", "Too many requests, please wait before trying again."),
    "timeout": (408, "ModelTimeoutException", "The model did not answer in time."),
    "model error": (424, "ModelErrorException", "The model failed while it worked on the request."),
    "unavailable": (503, "ServiceUnavailableException", "The service cannot take requests right now."),
    "internal": (500, "InternalServerException", "An internal error occurred."),
    "validation": (400, "ValidationException", "The request is not valid."),
    "access": (403, "AccessDeniedException", "You do not have access to the model."),
}
_LACKS = {
    "no images": "This model does not support image input.",
    "no system": "This model does not support system messages.",
    "no structured": "response_format of type json_schema is not supported.",
    "no whole": "This model only supports stream mode, please enable the stream parameter.",
    "context": "This model's maximum context length is shorter than what the request asks for.",
}
_ERRORS |= {name: (400, "ValidationException", message) for name, message in _LACKS.items()}
_OPENAI_STOPS = {"end_turn": "stop", "max_tokens": "length", "content_filtered": "content_filter"}


class Double:
    """A server on 127.0.0.1; a context manager. `requests`, `pages` and `texts` (to embed) count
    what came in.

    latency     seconds a page (an image) takes; a call without images takes one page's time
    quota       pages in flight from which calls are throttled; 0: none
    refuses     what it lacks: "images", "system", "structured", "whole" (it streams only, and says so),
                "stream" (it streams without a word)
    context     tokens that input and output together may have; 0: any number
    secret      the secret key that requests must be signed with; "" takes any signature
    """

    def __init__(
        self,
        brain: Brain,
        *,
        faults: FaultPlan | None = None,
        latency: float = 0.0,
        quota: int = 0,
        port: int = 0,
        refuses: tuple[str, ...] = (),
        context: int = 0,
        retry_after: str = "",
        secret: str = "",
    ) -> None:
        self.brain = brain
        self.faults = faults or FaultPlan()
        self.latency = latency
        self.quota = quota
        self.refuses = refuses
        self.context = context
        self.retry_after = retry_after
        self.secret = secret
        self.requests = self.pages = self.texts = self.flying = self.most_flying = self.throttled = 0
        self.seen: list[dict[str, Any]] = []
        self.lock = threading.Lock()
        double = self

        class Handler(_Handler):
            owner = double

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, request: object, client_address: object) -> None:
                """Nothing: clients that are killed drop their connections."""

        self._server = Server(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    @property
    def url(self) -> str:
        """Where Bedrock clients go; OpenAI clients add /v1."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Double:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def embed(self, texts: list[str], dimensions: int) -> list[list[float]] | str:
        """Vectors, or the name of the error; faults of what chat models write do not apply."""
        with self.lock:
            self.requests += 1
            self.texts += len(texts)
            if self.quota and self.flying + 1 > self.quota:
                self.throttled += 1
                return "throttle"
            self.flying += 1
            self.most_flying = max(self.most_flying, self.flying)
        try:
            fault = self.faults.next()
            if fault in _ERRORS or fault == "dropped connection":
                return fault
            time.sleep(self.latency / 10)
            return [vector_of(t, dimensions) for t in texts]
        finally:
            with self.lock:
                self.flying -= 1

    def answer(self, system: str, parts: list[str | bytes], limit: int, structured: bool) -> Said | str:
        """What is said, or the name of the error."""
        n = sum(isinstance(p, bytes) for p in parts)
        asked = {"images": n, "system": system, "structured": structured, "whole": True}
        if lacking := next((what for what in self.refuses if asked.get(what)), ""):
            return f"no {lacking}"
        tokens = (len(system) + sum(len(p) for p in parts if isinstance(p, str))) // 4 + 260 * n
        if self.context and tokens + limit > self.context:
            return "context"
        weight = max(1, n)
        with self.lock:
            self.requests += 1
            self.pages += n
            if self.quota and self.flying + weight > self.quota:
                self.throttled += 1
                return "throttle"
            self.flying += weight
            self.most_flying = max(self.most_flying, self.flying)
        try:
            fault = self.faults.next()
            if fault in _ERRORS:
                return fault
            time.sleep(self.latency * weight)
            if fault == "dropped connection":
                return fault
            return self.brain.say(system, parts, limit, fault, self.faults)
        finally:
            with self.lock:
                self.flying -= weight


class _Handler(BaseHTTPRequestHandler):
    owner: Double
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.loads(data)
        if match := _CONVERSE.search(self.path):
            if not self._signed(data):
                self._bedrock_error(403, "AccessDeniedException", "The signature does not match.")
                return
            self._bedrock(unquote(match[1]), body)
        elif match := _INVOKE.search(self.path):
            if not self._signed(data):
                self._bedrock_error(403, "AccessDeniedException", "The signature does not match.")
                return
            self._titan(unquote(match[1]), body)
        elif self.path.endswith("/embeddings"):
            self._openai_embeddings(body)
        elif self.path.endswith("/chat/completions"):
            self._openai(body)
        else:
            self._send(404, {"message": "no such operation"})

    def _signed(self, data: bytes) -> bool:
        """Whether the request has a signature of the right form, and the right one where the secret is
        known: it is made again from what came in."""
        given = self.headers.get("Authorization", "")
        match = _SIGNED.match(given)
        if match is None or not self.owner.secret:
            return match is not None
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        headers = {name: self.headers[name] for name in match["headers"].split(";")}
        request = AWSRequest("POST", f"http://{self.headers['Host']}{self.path}", headers, data)
        request.context["timestamp"] = self.headers["X-Amz-Date"]
        auth = SigV4Auth(Credentials(match["key"], self.owner.secret), "bedrock", match["region"])
        text = auth.string_to_sign(request, auth.canonical_request(request))
        return auth.signature(text, request) == match["signature"]

    def _bedrock(self, model: str, body: dict[str, Any]) -> None:
        self.owner.seen.append({"model": model, "metadata": body.get("requestMetadata", {})})
        parts: list[str | bytes] = []
        for block in body["messages"][0]["content"]:
            if "image" in block:
                parts.append(base64.b64decode(block["image"]["source"]["bytes"]))
            else:
                parts.append(block["text"])
        system = "\n".join(b["text"] for b in body.get("system", []))
        limit = body.get("inferenceConfig", {}).get("maxTokens", 4096)
        began = time.monotonic()
        said = self.owner.answer(system, parts, limit, "outputConfig" in body)
        if isinstance(said, str):
            self._error(said, bedrock=True)
            return
        usage = {
            "inputTokens": said.input_tokens,
            "outputTokens": said.output_tokens,
            "totalTokens": said.input_tokens + said.output_tokens,
        }
        message = {"role": "assistant", "content": [{"text": said.text}] if said.text else []}
        milliseconds = int((time.monotonic() - began) * 1000)
        self._send(
            200,
            {
                "output": {"message": message},
                "stopReason": said.stop,
                "usage": usage,
                "metrics": {"latencyMs": milliseconds},
            },
        )

    def _openai(self, body: dict[str, Any]) -> None:
        system = ""
        parts: list[str | bytes] = []
        for message in body["messages"]:
            content = message["content"]
            blocks: list[dict[str, Any]] = (
                [{"type": "text", "text": content}] if isinstance(content, str) else content
            )
            for block in blocks:
                if block["type"] == "image_url":
                    parts.append(base64.b64decode(block["image_url"]["url"].split(",", 1)[1]))
                elif message["role"] == "system":
                    system += block["text"]
                else:
                    parts.append(block["text"])
        said = self.owner.answer(system, parts, body.get("max_tokens", 4096), "response_format" in body)
        if isinstance(said, str):
            self._error(said, bedrock=False)
            return
        if "stream" in self.owner.refuses:
            self._send(200, f"data: {json.dumps({'choices': []})}\n\ndata: [DONE]\n\n")
            return
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": said.text},
            "finish_reason": _OPENAI_STOPS.get(said.stop, "stop"),
        }
        usage = {
            "prompt_tokens": said.input_tokens,
            "completion_tokens": said.output_tokens,
            "total_tokens": said.input_tokens + said.output_tokens,
        }
        head = {"id": "double", "object": "chat.completion", "created": 0, "model": body["model"]}
        self._send(200, {**head, "choices": [choice], "usage": usage})

    def _titan(self, model: str, body: dict[str, Any]) -> None:
        self.owner.seen.append({"model": model, **{k: v for k, v in body.items() if k != "inputText"}})
        text = body["inputText"]
        if not text or len(text) > 50_000:  # as the service has it
            self._error("validation", bedrock=True)
            return
        found = self.owner.embed([text], body.get("dimensions", 1024))
        if isinstance(found, str):
            self._error(found, bedrock=True)
            return
        self._send(200, {"embedding": found[0], "inputTextTokenCount": max(1, len(text) // 4)})

    def _openai_embeddings(self, body: dict[str, Any]) -> None:
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        self.owner.seen.append({"model": body["model"], "texts": len(texts)})
        found = self.owner.embed(texts, body.get("dimensions", 1536))
        if isinstance(found, str):
            self._error(found, bedrock=False)
            return
        rows = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(found)]
        tokens = sum(max(1, len(t) // 4) for t in texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        # in any order: who reads goes by the index
        self._send(200, {"object": "list", "data": rows[::-1], "model": body["model"], "usage": usage})

    def _error(self, fault: str, *, bedrock: bool) -> None:
        if fault == "dropped connection":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        status, kind, message = _ERRORS[fault]
        if bedrock:
            self._bedrock_error(status, kind, message)
        else:
            self._send(status, {"error": {"message": message, "type": kind, "code": None, "param": None}})

    def _bedrock_error(self, status: int, kind: str, message: str) -> None:
        self._send(status, {"message": message}, {"x-amzn-ErrorType": kind})

    def _send(self, status: int, body: dict[str, Any] | str, headers: dict[str, str] | None = None) -> None:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/event-stream" if isinstance(body, str) else "application/json")
        self.send_header("Content-Length", str(len(data)))
        if status == 429 and self.owner.retry_after:
            self.send_header("Retry-After", self.owner.retry_after)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a test's output is no access log."""
