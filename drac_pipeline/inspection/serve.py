"""Serve the pages of a home's documents, each made when it is asked for, and its evaluation's report.

Read-only, for this machine: it listens on a loopback address, and answers only requests that
name it by such an address, so that a web page elsewhere cannot read documents through it.
"""

from __future__ import annotations

import html
import logging
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, unquote, urlsplit

from drac_pipeline.errors import DracError
from drac_pipeline.inspection.html import inspection_html
from drac_pipeline.inspection.pages import default_pages, parse_pages
from drac_pipeline.inspection.view import view_document
from drac_pipeline.store import Home

log = logging.getLogger(__name__)

DOCUMENT_PATH = "/document/"
EVALUATION_PATH = "/evaluation"
EVALUATION_REPORT = "evaluation/report.html"  # in the home, written by `drac eval`
OVERVIEW_PATH = "/overview"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def document_url(base: str, key: str, chunk: int | None = None) -> str:
    """Where a server at `base` shows document `key` (and its chunk of that ordinal)."""
    return f"{base.rstrip('/')}{DOCUMENT_PATH}{quote(key)}" + ("" if chunk is None else f"#chunk-{chunk + 1}")


def evaluation_url(base: str) -> str:
    """Where a server at `base` shows the report of the home's last evaluation."""
    return base.rstrip("/") + EVALUATION_PATH


class InspectionServer(ThreadingHTTPServer):
    """The server; `url` says where it is. `port` 0 takes a free one. Raises OSError where the
    port is taken."""

    daemon_threads = True

    def __init__(self, home: Home, port: int = 0) -> None:
        self.home = home
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: InspectionServer  # pyright: ignore[reportIncompatibleVariableOverride]
    server_version = "drac"
    sys_version = ""

    def do_GET(self) -> None:
        if self.headers.get("Host", "").rsplit(":", 1)[0] not in _LOOPBACK:
            self._answer(HTTPStatus.FORBIDDEN, _message("This address is not served."))
            return
        parts = urlsplit(self.path)
        try:
            if parts.path == "/":
                self._answer(HTTPStatus.OK, _listing(self.server.home))
            elif parts.path == OVERVIEW_PATH:
                self._answer(HTTPStatus.OK, self._overview())
            elif parts.path.startswith(DOCUMENT_PATH):
                key = unquote(parts.path[len(DOCUMENT_PATH) :])
                asked = parse_qs(parts.query).get("pages", [""])[0]
                pages = parse_pages(asked) if asked else default_pages(self.server.home.store, key)
                view = view_document(self.server.home.store, key, pages)
                self._answer(HTTPStatus.OK, inspection_html(view, str(self.server.home.path)))
            elif parts.path == EVALUATION_PATH:
                self._answer(HTTPStatus.OK, _evaluation(self.server.home))
            else:
                self._answer(HTTPStatus.NOT_FOUND, _message("Nothing is served there."))
        except DracError as e:
            self._answer(HTTPStatus.NOT_FOUND, _message(str(e)))
        except (BrokenPipeError, ConnectionResetError):
            log.debug("the reader went away")
        except Exception as e:
            log.exception("%s", self.path)
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, _message(f"{type(e).__name__}: {e}"))

    def _overview(self) -> str:
        from drac_pipeline.overview import gather_overview, overview_html  # it names this module's links

        home = self.server.home
        return overview_html(gather_overview(home), home.path.name, self.server.url)

    def _answer(self, status: HTTPStatus, text: str) -> None:
        data = text.encode("utf-8")
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("X-Frame-Options", "DENY")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        log.info(format, *args)


def _message(text: str) -> str:
    return _PAGE.format(
        title="drac inspect", body=f"<p>{html.escape(text)}</p><p><a href='/'>documents</a></p>"
    )


def _evaluation(home: Home) -> str:
    report = home.path / EVALUATION_REPORT
    if not report.is_file():
        raise DracError("This home was not evaluated yet: `drac eval QUESTIONS` does it.")
    return report.read_text(encoding="utf-8")


def _listing(home: Home) -> str:
    rows = []
    for m in sorted(home.store.manifests(), key=lambda m: m.document_key):
        pages = m.stages["normalized_pdf"].counts.get("pages", 0) if "normalized_pdf" in m.stages else 0
        chunks = m.stages["chunks"].counts.get("chunks", 0) if "chunks" in m.stages else 0
        failed = f"failed at {m.failure.stage}" if m.failure else ""
        link = f"<a href='{DOCUMENT_PATH}{quote(m.document_key)}'>{html.escape(m.document_key)}</a>"
        cells = "".join(f"<td>{c}</td>" for c in (link, int(pages), int(chunks), html.escape(failed)))
        rows.append(f"<tr>{cells}</tr>")
    head = "<tr><th>document</th><th>pages</th><th>chunks</th><th></th></tr>"
    body = f"<h1>Documents</h1><p><a href='{OVERVIEW_PATH}'>overview</a></p>"
    if (home.path / EVALUATION_REPORT).is_file():
        body += f"<p><a href='{EVALUATION_PATH}'>How well the chunks are found</a></p>"
    return _PAGE.format(title="Documents", body=f"{body}<table>{head}{''.join(rows)}</table>")


_PAGE = (
    "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
    "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    "<title>{title}</title><style>:root{{color-scheme:light dark}}body{{font:15px/1.5 system-ui,sans-serif;"
    "margin:1rem;overflow-wrap:anywhere}}td,th{{text-align:left;padding:.15rem .8rem .15rem 0}}</style>"
    "{body}</html>"
)
