"""The word-processor documents: QP-07 stays a DOCX, the other three are exported to PDF."""

import tempfile
from pathlib import Path

from docx.shared import Pt

from .common import fix_zip, office_to_pdf, target
from .docx_flow import Writer, tracked
from .markup import parse


def export(writer: Writer, name: str, title: str, author: str) -> None:
    """Save as DOCX in a folder for a moment and export to the corpus as PDF."""
    writer.doc.core_properties.title = title
    writer.doc.core_properties.author = author
    with tempfile.TemporaryDirectory() as tmp:
        source = Path(tmp) / "document.docx"
        writer.doc.save(source)
        office_to_pdf(source, target(name))


def price_list() -> None:
    """Five columns over several pages; the header is on the first page only."""
    blocks, notes = parse("pricelist.md")
    writer = Writer(notes, size=10.5, accent="234F1E")
    writer.running("Lindmoor Instruments – Price list 2025", "PL-2025-EN · valid from 1 February 2025")
    writer.write(blocks)
    export(writer, "products/Spare Parts Price List 2025.pdf", "Spare parts price list 2025", "Sales Office")


def german_manual() -> None:
    """The German document: lists, tables, hyphenation by soft hyphens."""
    blocks, notes = parse("wartung_lm900.md")
    writer = Writer(notes, font="Liberation Sans", size=10, accent="1F5C7A", language="de-DE")
    writer.use_soft_hyphens("de_DE")
    writer.running("Lindmoor Messtechnik GmbH", "LM-900-WA-DE · Ausgabe 2 · Januar 2025", "Seite {} von {}")
    writer.write(blocks)
    name = "products/Wartungsanleitung Probenkühler LM-900.pdf"
    export(writer, name, "Wartungsanleitung Probenkühler LM-900", "Lindmoor Messtechnik GmbH")


def agreement() -> None:
    """The contract: numbered clauses, footnotes, annexes with tables."""
    blocks, notes = parse("supply_agreement.md")
    writer = Writer(notes, font="Liberation Serif", size=11, accent="000000")
    writer.running("Framework Supply Agreement LI-SUP-2023-019", "Confidential")
    writer.write(blocks)
    name = "finance/Supply Agreement Peltra Membranes.pdf"
    export(writer, name, "Framework Supply Agreement", "Lindmoor Instruments Ltd.")


def procedure() -> None:
    """QP-07 with header, footer, footnotes, a comment and a tracked change."""
    blocks, notes = parse("qp07.md")
    writer = Writer(notes)
    writer.running("Lindmoor Instruments – Quality procedure", "QP-07 · Issue 6 · 15 April 2025")
    doc = writer.doc
    title = doc.add_heading("QP-07 Control of Nonconforming Product", 0)
    title.runs[0].font.size = Pt(20)
    writer.inline(doc.add_paragraph(), "Issue 6 of 15 April 2025, replaces issue 5 of 3 May 2022")
    writer.write(blocks)
    changed = next(p for p in doc.paragraphs if "@change@" in p.text)
    run = next(r for r in changed.runs if "@change@" in r.text)
    run.text = run.text.replace("@change@", "Corrective actions are completed within ")
    tracked(changed, "del", "60", "Jens Petersen", 901)
    tracked(changed, "ins", "45", "Jens Petersen", 902)
    changed.add_run(" working days after the root cause is known.")
    # after the last footnote: LibreOffice 7.4 repeats a footnote if a comment stands between two of them
    effect = next(p for p in doc.paragraphs if p.text.startswith("The Head of Quality checks"))
    text = "Owen asks for two classes; decided on 8 April to leave it at one."
    comment = doc.add_comment(effect.runs[-1], text, "Jens Petersen", "JP")
    for node in comment._comment_elm.iter():
        for key in [k for k in node.attrib if k.endswith("}date")]:
            node.set(key, "2025-04-15T10:05:00Z")
    doc.core_properties.title = "QP-07 Control of Nonconforming Product"
    doc.core_properties.author = doc.core_properties.last_modified_by = "Jens Petersen"
    doc.core_properties.comments = ""
    path = target("quality/QP-07 Control of Nonconforming Product.docx")
    doc.save(path)
    fix_zip(path)


def make() -> None:
    """Write all four."""
    price_list()
    german_manual()
    agreement()
    procedure()
