"""Office files made here, and a stand-in for their print."""

from __future__ import annotations

import zipfile
from pathlib import Path

import docx
import pymupdf
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from drac_pipeline.config import ConvertConfig
from drac_pipeline.model import Converted
from drac_pipeline.office import convert_office


def no_print() -> Converted:
    raise AssertionError("the print was read, not the file")


def read(path: Path, pages: list[list[str]] | None = None, **settings: object) -> Converted:
    """The file at `path`, printed as `pages` of lines (one empty page by default)."""
    pdf = path.with_suffix(".pdf")
    with pymupdf.open() as document:
        for lines in pages or [[]]:
            page = document.new_page()
            for n, line in enumerate(lines):
                page.insert_text((72, 72 + 20 * n), line)
        document.save(pdf)
    kind = path.suffix[1:]
    return convert_office(path, kind, pdf, ConvertConfig.model_validate(settings), no_print)


def body(converted: Converted) -> list[str]:
    """The lines of the Markdown, page comments apart."""
    lines = converted.markdown.splitlines()
    return [line for line in lines if line.strip() and not line.startswith("<!--")]


def docx_of(path: Path, xml: str, *, styles: str = "", numbering: str = "") -> Path:
    """A DOCX whose body is `xml`; `styles` and `numbering` are added to those parts."""
    document = docx.Document()
    for node in parse_xml(f"<w:body {nsdecls('w', 'r', 'wp', 'a')}>{xml}</w:body>"):
        document.element.body.insert(len(document.element.body) - 1, node)
    for node in parse_xml(f"<w:styles {nsdecls('w')}>{styles}</w:styles>"):
        document.styles.element.append(node)
    if numbering:
        root = document.part.numbering_part.element
        for child in list(root):
            root.remove(child)
        for node in parse_xml(f"<w:numbering {nsdecls('w')}>{numbering}</w:numbering>"):
            root.append(node)
    document.save(str(path))
    return path


def p(text: str, properties: str = "", run: str = "") -> str:
    """A paragraph of one run."""
    ppr = f"<w:pPr>{properties}</w:pPr>" if properties else ""
    rpr = f"<w:rPr>{run}</w:rPr>" if run else ""
    return f'<w:p>{ppr}<w:r>{rpr}<w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def item(text: str, number: int, level: int = 0) -> str:
    """A list item."""
    return p(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


NOTES = ("footnotes", "endnotes")


def with_notes(path: Path) -> Path:
    """A document with two footnotes and a comment between them, an endnote, header and footer."""
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "Company secret"
    document.sections[0].footer.paragraphs[0].text = "Page 1"
    paragraph = document.add_paragraph("Open the valve")
    document.add_comment(paragraph.runs, text="really?", author="Ann")
    document.save(str(path))
    return add_notes(path)


def add_notes(path: Path) -> Path:
    w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    notes = {
        kind: f"<w:{kind}s {w}>"
        + f'<w:{kind} w:type="separator" w:id="-1"><w:p/></w:{kind}>'
        + "".join(
            f'<w:{kind} w:id="{n}"><w:p><w:r><w:t>{kind} text {n}</w:t></w:r></w:p></w:{kind}>'
            for n in (1, 2)
        )
        + f"</w:{kind}s>"
        for kind in ("footnote", "endnote")
    }
    base = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
    types = "application/vnd.openxmlformats-officedocument.wordprocessingml."
    with zipfile.ZipFile(path) as old:
        parts = {n: old.read(n) for n in old.namelist()}
    with zipfile.ZipFile(path, "w") as new:
        for name, data in parts.items():
            text = data.decode("utf-8", "surrogateescape")
            if name == "word/document.xml":
                mark = '<w:r><w:{0}Reference w:id="{1}"/></w:r>'
                first = text.index("</w:p>")
                text = text[:first] + mark.format("footnote", 1) + mark.format("endnote", 1) + text[first:]
                first = text.index("<w:sectPr")
                last = f"<w:p><w:r><w:t>Close it</w:t></w:r>{mark.format('footnote', 2)}</w:p>"
                text = text[:first] + last + text[first:]
            elif name == "word/_rels/document.xml.rels":
                more = "".join(f'<Relationship Id="n{k}" Type="{base}{k}" Target="{k}.xml"/>' for k in NOTES)
                text = text.replace("</Relationships>", more + "</Relationships>")
            elif name == "[Content_Types].xml":
                more = "".join(
                    f'<Override PartName="/word/{k}.xml" ContentType="{types}{k}+xml"/>' for k in NOTES
                )
                text = text.replace("</Types>", more + "</Types>")
            new.writestr(name, text.encode("utf-8", "surrogateescape"))
        for kind, xml in notes.items():
            new.writestr(f"word/{kind}s.xml", xml)
    return path
