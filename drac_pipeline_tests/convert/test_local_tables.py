"""Tables of the local converter: rules or none, wraps, spans, breaks, kinds."""

from drac_pipeline.convert.postprocess import postprocess
from drac_pipeline_tests.convert.pages import BOLD, FILLER, Doc, blocks

XS = (72, 200, 330)


def booktabs(doc: Doc, rows: list[tuple[str, ...]], *, top: bool = True, bottom: bool = True) -> Doc:
    if top:
        doc.rule(70, 450, y=doc.y - 12)
        doc.row(XS, "Model", "Price", "Note")
        doc.rule(70, 450, y=doc.y - 11)
        doc.y += 4
    for cells in rows:
        doc.row(XS, *cells, after=13)
    if bottom:
        doc.rule(70, 450, y=doc.y - 8)
    doc.y += 24
    return doc


def test_horizontal_rules_only_and_a_wrapped_cell_written_cell_by_cell():
    doc = Doc().paragraph(*FILLER)
    booktabs(doc, [("Brook", "120", "stock")], bottom=False)
    doc.y -= 24
    y = doc.y
    # one row: its first cell's two lines are written before the second cell
    doc.text(72, "Tarn for raw", y=y).text(72, "water", y=y + 13)
    doc.text(200, "4,500", y=y).text(330, "five", y=y).text(330, "days", y=y + 13)
    doc.y = y + 26
    doc.row(XS, "Beck", "9,800", "ten days")
    doc.rule(70, 450, y=doc.y - 8)
    doc.y += 24
    doc.paragraph(*FILLER)
    out = doc.convert()
    assert blocks(out)[1:4] == [
        "Model: Brook; Price: 120; Note: stock.",
        "Model: Tarn for raw water; Price: 4,500; Note: five days.",
        "Model: Beck; Price: 9,800; Note: ten days.",
    ]
    (table,) = out.tables
    assert table.header == [["Model"], ["Price"], ["Note"]]
    assert [r.cells for r in table.rows][1] == ["Tarn for raw water", "4,500", "five days"]
    spans = [s for s in out.spans if s.table_id == table.table_id]
    assert [(s.row, s.kind) for s in spans] == [(0, "table_row"), (1, "table_row"), (2, "table_row")]
    assert postprocess(out.markdown) == out.markdown


def test_a_table_over_two_pages_without_a_second_header_is_one():
    doc = Doc().paragraph(*FILLER)
    doc.y = 700
    booktabs(doc, [("Brook", "120", "stock"), ("Tarn", "4,500", "5 days")], bottom=False)
    doc.new_page()
    booktabs(doc, [("Beck", "9,800", "10 days"), ("Weir", "7,100", "stock")], top=False)
    doc.paragraph(*FILLER)
    out = doc.convert()
    assert len(out.tables) == 1 and [r.page for r in out.tables[0].rows] == [1, 1, 2, 2]
    assert "<!-- page 2 -->\n\nModel: Beck; Price: 9,800; Note: 10 days.\n\nModel: Weir" in out.markdown


def test_a_repeated_header_on_the_next_page_is_left_out():
    doc = Doc().paragraph(*FILLER)
    doc.y = 700
    booktabs(doc, [("Brook", "120", "stock"), ("Tarn", "4,500", "5 days")])
    doc.new_page()
    booktabs(doc, [("Beck", "9,800", "10 days")])
    out = doc.convert()
    assert len(out.tables) == 1
    assert "Model: Model" not in out.markdown and "Model: Beck; Price: 9,800" in out.markdown


def test_two_tables_with_text_between_stay_two():
    doc = Doc()
    booktabs(doc, [("Brook", "120", "stock"), ("Tarn", "4,500", "5 days")])
    doc.heading("Older models", size=13)
    booktabs(doc, [("Rill", "80", "none"), ("Ford", "95", "none")])
    out = doc.convert()
    assert [len(t.rows) for t in out.tables] == [2, 2]
    assert "Older models" in out.markdown


def grid(doc: Doc, xs: list[float], ys: list[float]) -> None:
    for y in ys:
        doc.rule(xs[0], xs[-1], y=y)
    for x in xs:
        doc.upright(x, ys[0], ys[-1])


def test_full_grid_with_a_header_over_two_columns():
    doc = Doc().paragraph(*FILLER)
    xs, y = [70, 190, 280, 370], 130
    doc.text(75, "Site", y=y + 26).text(255, "Staff", y=y + 12)
    doc.text(215, "2023", y=y + 28).text(305, "2024", y=y + 28)
    doc.text(75, "Kiel", y=y + 46).text(220, "37", y=y + 46).text(310, "41", y=y + 46)
    doc.text(75, "Lancaster", y=y + 64).text(220, "61", y=y + 64).text(310, "64", y=y + 64)
    for line in (y, y + 34, y + 52, y + 70):
        doc.rule(70, 370, y=line)
    doc.rule(190, 370, y=y + 17)
    for x in xs:
        doc.upright(x, y + (17 if x == 280 else 0), y + 70)
    out = doc.convert()
    assert out.tables[0].header == [["Site"], ["Staff", "2023"], ["Staff", "2024"]]
    assert "Site: Kiel; Staff, 2023: 37; Staff, 2024: 41." in blocks(out)


def test_a_cell_spanning_rows_is_named_in_each():
    doc = Doc().paragraph(*FILLER)
    xs, y = [70, 190, 300], 130
    doc.text(75, "County", y=y + 12).text(195, "Plan", y=y + 12)
    doc.text(75, "Marin", y=y + 39)
    for i, plan in enumerate(("Blue", "Green", "Red")):
        doc.text(195, plan, y=y + 30 + 18 * i)
    doc.text(75, "Napa", y=y + 66)
    for line in (y, y + 18, y + 54, y + 72):
        doc.rule(70, 300, y=line)
    doc.rule(190, 300, y=y + 36)
    for x in xs:
        doc.upright(x, y, y + 72)
    assert blocks(doc.convert())[1:] == [
        "County: Marin; Plan: Blue.",
        "County: Marin; Plan: Green.",
        "County: Napa; Plan: Red.",
    ]


def test_no_rules_at_all_with_a_total():
    doc = Doc().paragraph(*FILLER)
    doc.row(XS, "Region", "Revenue", "Share", font=BOLD)
    for cells in (("North", "1,200", "60 %"), ("South", "800", "40 %"), ("Total", "2,000", "100 %")):
        doc.row(XS, *cells)
    doc.y += 20
    doc.paragraph(*FILLER)
    assert blocks(doc.convert())[1:4] == [
        "Region: North; Revenue: 1,200; Share: 60 %.",
        "Region: South; Revenue: 800; Share: 40 %.",
        "Region: Total; Revenue: 2,000; Share: 100 %.",
    ]


def test_an_empty_key_cell_and_a_sparse_row_lose_nothing():
    doc = Doc().paragraph(*FILLER)
    booktabs(doc, [("Brook", "120", "stock"), ("", "130", "with case"), ("Tarn", "", "on request")])
    assert blocks(doc.convert())[1:] == [
        "Model: Brook; Price: 120; Note: stock.",
        "Price: 130; Note: with case.",
        "Model: Tarn; Note: on request.",
    ]


def test_key_and_value_without_a_header():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    for key, value in (("Owner", "Tomasz Lis"), ("Version", "3.2"), ("Review", "March 2026")):
        doc.text(75, key, font=BOLD).text(200, value)
        doc.y += 18
    grid(doc, [70, 190, 330], [y - 12, y + 6, y + 24, y + 42])
    assert blocks(doc.convert())[1:] == ["Owner: Tomasz Lis.", "Version: 3.2.", "Review: March 2026."]


def test_section_rows_title_the_rows_below():
    doc = Doc().paragraph(*FILLER)
    doc.row(XS, "Item", "2023", "2024", font=BOLD)
    doc.row(XS, "Current assets:", "", "")
    doc.row(XS, "Cash", "$ 20", "$ 21")
    doc.row(XS, "Total current assets", "20", "21")
    doc.row(XS, "Goodwill", "5", "6")
    doc.y += 20
    doc.paragraph(*FILLER)
    assert blocks(doc.convert())[1:5] == [
        "Current assets.",
        "Current assets — Item: Cash; 2023: $ 20; 2024: $ 21.",
        "Current assets — Item: Total current assets; 2023: 20; 2024: 21.",
        "Item: Goodwill; 2023: 5; 2024: 6.",
    ]


def test_tables_side_by_side_are_two():
    doc = Doc()
    for x, name in ((60.0, "Left"), (320.0, "Right")):
        doc.y = 100
        doc.rule(x, x + 200, y=88)
        doc.row((x, x + 110), name, "Count")
        doc.rule(x, x + 200, y=105)
        doc.y = 120
        for i in range(3):
            doc.row((x, x + 110), f"{name} row {i}", str(100 + i))
        doc.rule(x, x + 200, y=doc.y - 10)
    out = doc.convert()
    assert len(out.tables) == 2
    assert blocks(out)[:2] == ["Left: Left row 0; Count: 100.", "Left: Left row 1; Count: 101."]
    assert "Right: Right row 2; Count: 102." in blocks(out)


def test_cells_that_touch_are_cut_where_other_rows_show_the_border():
    doc = Doc().paragraph(*FILLER)
    doc.rule(70, 300, y=doc.y - 12)
    doc.row((72, 110, 150), "Name", "RAM", "Storage")
    doc.rule(70, 300, y=doc.y - 11)
    doc.y += 4
    doc.row((72, 110, 150), "One", "8GB", "64GB")
    width = __import__("pymupdf").get_text_length("12GB", fontsize=10)
    doc.text(72, "Two").text(150 - width, "12GB256GB")
    doc.y += 13
    doc.row((72, 110, 150), "Three", "8GB", "128GB")
    doc.rule(70, 300, y=doc.y - 8)
    assert "Name: Two; RAM: 12GB; Storage: 256GB." in doc.convert().markdown


def test_prose_between_two_separator_rules_is_no_table():
    doc = Doc().rule(200, 380, y=60)
    doc.paragraph(*FILLER)
    doc.rule(200, 380, y=doc.y)
    doc.y += 24
    doc.paragraph(*FILLER)
    assert not doc.convert().tables


def test_two_narrow_tables_under_headings_at_the_margin_stay_apart():
    doc = Doc()
    for name, price in (("Brook", "120"), ("Tarn", "4,500")):
        doc.heading(name, size=13)
        y = doc.y
        doc.rule(240, 380, y=y - 12).row((242, 330), "Unit", "Price").rule(240, 380, y=y + 4)
        doc.y += 4
        doc.row((242, 330), "each", price).row((242, 330), "pack", price + "0").rule(240, 380, y=doc.y - 8)
        doc.y += 30
    out = doc.convert()
    assert [len(t.rows) for t in out.tables] == [2, 2]
    assert blocks(out)[:4] == ["# Brook", "Unit: each; Price: 120.", "Unit: pack; Price: 1200.", "# Tarn"]


def test_running_text_in_a_box_is_no_table():
    doc = Doc().paragraph(*FILLER)
    top = doc.y - 12
    doc.paragraph(*FILLER, *FILLER)
    bottom = doc.y - 14
    doc.rule(68, 520, y=top).rule(68, 520, y=bottom).upright(68, top, bottom).upright(520, top, bottom)
    out = doc.convert()
    assert not out.tables and blocks(out)[1] == " ".join(FILLER * 2)


def test_formulas_in_boxed_cells_are_not_cut():
    doc = Doc().paragraph(*FILLER)
    top = doc.y - 12
    xs = (76, 140, 260, 360)
    doc.rule(70, 500, y=top)
    for cells in (
        ("Register", "Value", "Unit", "Remark"),
        ("100", "Ammonium", "mg/l NH4-N", ""),
        ("102", "Nitrate", "mg/l NO3-N", ""),
        ("104", "Phosphate", "mg/l PO4-P", ""),
        ("120", "State", "none", "0 measuring, 1 hold"),
    ):
        doc.row(xs, *cells)
        doc.rule(70, 500, y=doc.y - 12)
    for x in (70, 134, 254, 354, 500):
        doc.upright(x, top, doc.y - 12)
    doc.y += 20
    assert blocks(doc.paragraph(*FILLER).convert())[1:4] == [
        "Register: 100; Value: Ammonium; Unit: mg/l NH4-N.",
        "Register: 102; Value: Nitrate; Unit: mg/l NO3-N.",
        "Register: 104; Value: Phosphate; Unit: mg/l PO4-P.",
    ]
