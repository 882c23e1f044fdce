"""An e-mail to Markdown: subject, headers, body; attachments are named."""

from __future__ import annotations

from drac_pipeline.config import ConvertConfig
from drac_pipeline.errors import EmptyDocument
from drac_pipeline.model.conversion import Converted, Dropped
from drac_pipeline.normalize.mail import read_mail
from drac_pipeline.web.blocks import Block
from drac_pipeline.web.flow import Flow
from drac_pipeline.web.html import VERSION
from drac_pipeline.web.plain import text_blocks
from drac_pipeline.web.prune import prune
from drac_pipeline.web.tree import parse_html
from drac_pipeline.web.writer import Writer


def convert_eml(data: bytes, _config: ConvertConfig) -> Converted:
    """A message. Raises EmptyDocument where it has neither subject nor body."""
    mail = read_mail(data)
    if not mail.subject and not mail.body.strip():
        raise EmptyDocument("the message has no text", remedy="Remove it from the source.")
    blocks = [Block("heading", mail.subject or "Message", level=1)]
    headers = [*mail.headers, ("Attachments", ", ".join(mail.attached))]
    blocks.append(Block("paragraph", "\n".join(f"{name}: {value}" for name, value in headers if value)))
    dropped: list[Dropped] = []
    warnings: list[str] = []
    if mail.kind == "HTML":
        root, warnings = parse_html(mail.body or "<p></p>")
        pruned = prune(root, boilerplate=False)
        dropped = pruned.dropped
        blocks += Flow(pruned.facts, dropped).run(root)
    else:
        blocks += text_blocks(mail.body)
    writer = Writer()
    writer.write(blocks)
    warnings += [f"attachment not read: {name}" for name in mail.attached[:20]]
    return writer.converted(f"mail/{VERSION}", dropped, warnings)
