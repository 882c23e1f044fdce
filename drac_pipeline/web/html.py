"""A web page to Markdown without a PDF."""

from __future__ import annotations

from drac_pipeline.config import ConvertConfig
from drac_pipeline.model.conversion import Converted
from drac_pipeline.web.flow import Flow
from drac_pipeline.web.prune import prune
from drac_pipeline.web.tree import Node, read_page
from drac_pipeline.web.writer import Writer

VERSION = 1


def convert_html(data: bytes, _config: ConvertConfig) -> Converted:
    """The main content of a page. Raises CorruptDocument, EmptyDocument."""
    root, warnings = read_page(data)
    return convert_tree(root, f"web/{VERSION}", warnings)


def convert_tree(root: Node, converter: str, warnings: list[str], *, boilerplate: bool = True) -> Converted:
    """A page's tree; `boilerplate=False` where the page is all content, as in a book."""
    pruned = prune(root, boilerplate=boilerplate)
    blocks = Flow(pruned.facts, pruned.dropped).run(root)
    writer = Writer()
    writer.write(blocks)
    return writer.converted(converter, pruned.dropped, warnings + pruned.warnings)
