"""A book to Markdown: the chapters of its spine, one after the other."""

from __future__ import annotations

import io
import zipfile

from drac_pipeline.config import ConvertConfig
from drac_pipeline.errors import CorruptDocument, DocumentTooLarge
from drac_pipeline.model.conversion import Converted, Dropped
from drac_pipeline.normalize.charset import decode_text
from drac_pipeline.normalize.epub import read_spine
from drac_pipeline.web.flow import Flow
from drac_pipeline.web.html import VERSION
from drac_pipeline.web.prune import prune
from drac_pipeline.web.tree import parse_html
from drac_pipeline.web.writer import Writer

_MAX_TEXT_BYTES = 50_000_000  # of all chapters together, unpacked


def convert_epub(data: bytes, _config: ConvertConfig) -> Converted:
    """A book. Raises CorruptDocument, EmptyDocument, DocumentTooLarge."""
    writer = Writer()
    dropped: list[Dropped] = []
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as z:
            book = read_spine(z)
            if sum(z.getinfo(name).file_size for name in book.chapters) > _MAX_TEXT_BYTES:
                raise DocumentTooLarge("the chapters are too long", remedy="Split the book.")
            warnings = book.warnings()
            for name in book.chapters:
                decoded = decode_text(z.read(name))
                if decoded is None or not decoded.text.strip():
                    warnings.append(f"a chapter without text: {name}")
                    continue
                root, notes = parse_html(decoded.text)
                warnings += notes
                pruned = prune(root, boilerplate=False)
                writer.write(Flow(pruned.facts, pruned.dropped).run(root))
                dropped += pruned.dropped
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as e:
        raise CorruptDocument(f"the book cannot be unpacked ({e})", remedy="Export it again.") from e
    return writer.converted(f"book/{VERSION}", dropped, warnings)
