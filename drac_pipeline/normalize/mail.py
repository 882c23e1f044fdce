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
class Mail:
    """A message: its subject, the other headers, the body (`kind` HTML, plain text or ""), and the
    names of its attachments."""

    subject: str
    headers: list[tuple[str, str]]
    body: str
    kind: str
    attached: list[str]


@dataclass(frozen=True, slots=True)
class MailPage:
    """The page, what of the message was taken in, and what was left out."""

    html: str
    taken: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def read_mail(data: bytes) -> Mail:
    """The message `data`. Of alternatives the HTML is taken; attachments are only named."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    subject = _header(message, "Subject")
    headers = [(name, _header(message, name)) for name in _HEADERS if name != "Subject"]
    body, kind = _body(message)
    attached = [part.get_filename() or "without a name" for part in _attachments(message)]
    return Mail(subject, [(n, v) for n, v in headers if v], body, kind, attached)


def mail_page(source: Path) -> MailPage:
    """The message in the file `source` as a page."""
    mail = read_mail(source.read_bytes())
    head = "".join(f"<p><b>{name}:</b> {html.escape(value)}</p>" for name, value in mail.headers)
    attached = html.escape(", ".join(mail.attached))
    names = f"<p><b>Attachments:</b> {attached}</p>" if attached else ""
    title = html.escape(mail.subject or "Message")
    return MailPage(
        page(title, f"<h1>{title}</h1>{head}{names}<hr>{_body_html(mail)}"),
        taken=[f"{mail.kind} body"] if mail.kind else [],
        left_out=[f"attachment {name}" for name in mail.attached],
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
    return text, "HTML" if part.get_content_subtype() == "html" else "plain text"


def _body_html(mail: Mail) -> str:
    if mail.kind == "HTML":
        clean = sanitize_html(mail.body).html
        inner = clean.partition("<body")[2].partition(">")[2].rpartition("</body>")[0]
        return inner or clean
    paragraphs = mail.body.replace("\r\n", "\n").strip("\n").split("\n\n")
    return "".join(f'<p style="white-space:pre-wrap">{html.escape(p)}</p>' for p in paragraphs if p.strip())


def _attachments(message: EmailMessage) -> list[EmailMessage]:
    body = message.get_body(preferencelist=("html", "plain"))
    out = []
    for part in message.walk():
        if part is body or part.is_multipart() or not isinstance(part, EmailMessage):
            continue
        if part.get_filename() or part.get_content_disposition() == "attachment":
            out.append(part)
    return out
