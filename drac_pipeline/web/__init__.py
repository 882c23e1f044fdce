"""The web path: formats that are text already, read without a PDF (W-RAC)."""

from __future__ import annotations

from collections.abc import Callable

from drac_pipeline.config import ConvertConfig
from drac_pipeline.model.conversion import Converted
from drac_pipeline.web.epub import convert_epub
from drac_pipeline.web.html import convert_html
from drac_pipeline.web.mail import convert_eml
from drac_pipeline.web.markdown import convert_markdown_source
from drac_pipeline.web.plain import convert_text

_CONVERTERS: dict[str, Callable[[bytes, ConvertConfig], Converted]] = {
    "html": convert_html,
    "markdown": convert_markdown_source,
    "text": convert_text,
    "eml": convert_eml,
    "epub": convert_epub,
}

# as `normalize.sniff` names them
WEB_FORMATS = frozenset(_CONVERTERS)


def convert_web(data: bytes, kind: str, config: ConvertConfig) -> Converted:
    """The document of format `kind` (one of `WEB_FORMATS`) as Markdown. Raises DocumentError."""
    return _CONVERTERS[kind](data, config)


__all__ = [
    "WEB_FORMATS",
    "convert_eml",
    "convert_epub",
    "convert_html",
    "convert_markdown_source",
    "convert_text",
    "convert_web",
]
