"""E-mail (.eml) as an HTML page: headers, body, names of the attachments."""

from __future__ import annotations

import email
import email.policy
import html
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path

from drac_pipeline.normalize.charset import decode_text
from drac_pipeline.normalize.sanitize import page, sanitize_html

_HEADERS = ("From", "To", "Cc", "Date", "Subject")


@dataclass(frozen=True, slots=True)
class MailPage:
    """The page, what of the message was taken in, and what was left out."""

    html: str
    taken: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def mail_page(source: Path) -> MailPage:
    """The message in the file `source`. Of alternatives the HTML is taken; attachments are only named."""
    message = email.message_from_bytes(source.read_bytes(), policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    subject = _header(message, "Subject")
    rows = [(name, _header(message, name)) for name in _HEADERS]
    head = "".join(
        f"<p><b>{name}:</b> {html.escape(value)}</p>" for name, value in rows if value and name != "Subject"
    )
    body, kind = _body(message)
    attached = [part.get_filename() or "without a name" for part in _attachments(message)]
    names = f"<p><b>Attachments:</b> {html.escape(', '.join(attached))}</p>" if attached else ""
    title = html.escape(subject or "Message")
    return MailPage(
        page(title, f"<h1>{title}</h1>{head}{names}<hr>{body}"),
        taken=[f"{kind} body"] if kind else [],
        left_out=[f"attachment {name}" for name in attached],
    )


def _header(message: EmailMessage, name: str) -> str:
    try:
        return str(message.get(name, "")).strip()
    except (ValueError, LookupError, IndexError, AttributeError):  # a header the parser cannot take apart
        return str(dict(message.raw_items()).get(name, "")).strip()


def _body(message: EmailMessage) -> tuple[str, str]:
    part = message.get_body(preferencelist=("html", "plain"))
    if part is None:
        return "", ""
    payload = part.get_payload(decode=True)
    decoded = (
        decode_text(payload, declared=part.get_content_charset() or "")
        if isinstance(payload, bytes)
        else None
    )
    text = decoded.text if decoded else ""
    if part.get_content_subtype() == "html":
        clean = sanitize_html(text).html
        inner = clean.partition("<body")[2].partition(">")[2].rpartition("</body>")[0]
        return inner or clean, "HTML"
    paragraphs = text.replace("\r\n", "\n").strip("\n").split("\n\n")
    return "".join(
        f'<p style="white-space:pre-wrap">{html.escape(p)}</p>' for p in paragraphs if p.strip()
    ), "plain text"


def _attachments(message: EmailMessage) -> list[EmailMessage]:
    body = message.get_body(preferencelist=("html", "plain"))
    out = []
    for part in message.walk():
        if part is body or part.is_multipart() or not isinstance(part, EmailMessage):
            continue
        if part.get_filename() or part.get_content_disposition() == "attachment":
            out.append(part)
    return out
