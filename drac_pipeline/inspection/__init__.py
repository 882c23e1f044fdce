"""A document as a page to look at: page images with boxes beside Markdown, elements and chunks."""

from drac_pipeline.inspection.html import inspection_html
from drac_pipeline.inspection.view import DocumentView, PageView, view_document
from drac_pipeline.inspection.write import inspect_document

__all__ = ["DocumentView", "PageView", "inspect_document", "inspection_html", "view_document"]
