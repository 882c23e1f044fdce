import pymupdf

from drac_pipeline.convert.fidelity import compare
from drac_pipeline.convert.local.document import convert_pdf
from drac_pipeline_tests.convert.pages import FILLER, Doc


def document() -> Doc:
    doc = Doc().heading("Limits").paragraph(*FILLER).paragraph("The pump LM-640 lifts 1,250 litres per hour.")
    doc.y = 760
    doc.paragraph("This sentence begins at the foot of the page and goes")
    doc.new_page().paragraph("on at the top of the next one, at 16 bar.").paragraph(*FILLER)
    return doc


def test_the_local_converter_is_complete_on_a_plain_document():
    doc = document()
    report = compare(doc.bytes(), doc.convert())
    assert report.compared == 2
    assert report.recall == 1.0 and report.precision == 1.0
    assert report.missing_values == report.foreign_values == 0


def test_a_lost_line_an_invented_number_and_a_wrong_identifier_are_named():
    doc = document()
    out = doc.convert()
    markdown = out.markdown.replace(FILLER[2], "", 1).replace("1,250", "1,350").replace("LM-640", "LM-460")
    report = compare(doc.bytes(), out.model_copy(update={"markdown": markdown}))
    first = report.pages[0]
    assert first.recall is not None and first.recall < 0.8
    assert first.missing_values == ["LM-640", "1,250"] and first.foreign_values == ["LM-460", "1,350"]
    assert "reader" in first.missing_words
    assert report.worst(1)[0].page == 1
    assert report.pages[1].recall is not None and report.pages[1].recall > 0.97


def test_invented_words_cost_precision():
    doc = document()
    out = doc.convert()
    report = compare(
        doc.bytes(), out.model_copy(update={"markdown": out.markdown + "\nSure, here is a summary."})
    )
    assert report.pages[1].precision is not None and report.pages[1].precision < 0.97
    assert report.pages[1].recall == 1.0


def test_dropped_page_furniture_is_no_loss():
    doc = Doc()
    for n in range(1, 5):
        if n > 1:
            doc.new_page()
        doc.text(72, "Quarterly report of the water works", y=36, size=8).text(
            290, f"Page {n}", y=815, size=8
        )
        doc.y = 100
        doc.paragraph(*FILLER).paragraph(*FILLER)
    out = doc.convert()
    report = compare(doc.bytes(), out)
    assert out.report.dropped and report.recall == 1.0
    assert "Quarterly report of the water works" in report.pages[0].dropped


def test_a_page_without_a_text_layer_is_no_witness():
    doc = Doc().paragraph(*FILLER)
    doc.new_page()
    pix = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 200, 200))
    pix.clear_with(40)
    doc.page.insert_image((100, 100, 300, 300), pixmap=pix)
    report = compare(doc.bytes(), doc.convert())
    assert [p.comparable for p in report.pages] == [True, False]
    assert report.pages[1].recall is None and report.pages[1].reason
    assert report.compared == 1 and report.recall == 1.0


def test_header_values_of_a_long_table_may_be_said_on_every_page():
    doc = Doc().paragraph(*FILLER)
    doc.rule(70, 330, y=doc.y - 12)
    doc.row((72, 200), "Region", "2023")
    doc.rule(70, 330, y=doc.y - 11)
    doc.y += 4
    for page in range(4):
        if page:
            doc.new_page()
        while doc.y < 780:
            doc.row((72, 200), f"Region {page}{round(doc.y)}", f"{round(doc.y) * 7}", after=13)
    out = doc.convert()
    assert len(out.tables) == 1
    report = compare(doc.bytes(), out)
    assert report.foreign_values == 0 and report.precision == 1.0


def test_it_reads_the_same_bytes_as_the_converter(tmp_path):
    path = tmp_path / "a.pdf"
    path.write_bytes(document().bytes())
    from drac_pipeline.config import ConvertConfig

    assert compare(path, convert_pdf(path, ConvertConfig(ocr=False))).recall == 1.0
