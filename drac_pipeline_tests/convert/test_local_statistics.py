"""Tables as statistical offices print them: no rules, several header levels, odd writing orders."""

from __future__ import annotations

import pymupdf

from drac_pipeline_tests.convert.pages import BOLD, FILLER, Doc, blocks

LABELS = ("Agriculture", "Mining", "Construction", "Education")


def right(doc: Doc, x: float, text: str, *, y: float | None = None, size: float = 10) -> None:
    doc.text(x - pymupdf.get_text_length(text, fontsize=size), text, y=y, size=size)


def middle(doc: Doc, x: float, text: str, *, y: float | None = None, font: str = "helv") -> None:
    doc.text(x - pymupdf.get_text_length(text, fontname=font, fontsize=10) / 2, text, y=y, font=font)


def test_a_table_written_column_by_column_keeps_its_rows():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    doc.text(72, "Industry", y=y)
    for section, at in (("Private sector", 1), ("Public sector", 4)):
        doc.text(72, section, y=y + 14 * at, font=BOLD)
    places = (2, 3, 5, 6)
    for k, label in zip(places, LABELS, strict=True):
        doc.text(80, label, y=y + 14 * k)
    for c, head in enumerate(("Men", "Women", "All")):
        right(doc, 260 + 80 * c, head, y=y)
        for k in places:
            right(doc, 260 + 80 * c, f"{k}{c}.5", y=y + 14 * k)
    doc.y = y + 140
    found = blocks(doc.paragraph(*FILLER).convert())
    assert "Private sector — Industry: Agriculture; Men: 20.5; Women: 21.5; All: 22.5." in found
    assert "Public sector — Industry: Education; Men: 60.5; Women: 61.5; All: 62.5." in found


def test_the_lines_of_one_wrapped_row_are_no_columns_of_rows():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    doc.rule(70, 420, y=y - 12)
    doc.row((72, 180, 300), "Place", "Telephone", "Hours", after=14)
    doc.rule(70, 420, y=doc.y - 11)
    for x, lines in (
        (72, ("Harbour", "Road", "South")),
        (180, ("0484-", "409-", "2216")),
        (300, ("nine", "till", "five")),
    ):
        for k, text in enumerate(lines):
            doc.text(x, text, y=doc.y + 12 * k)
    doc.y += 28
    doc.rule(70, 420, y=doc.y)
    doc.y += 20
    found = blocks(doc.paragraph(*FILLER).convert())
    assert any("Telephone: 0484-409-2216" in b for b in found)


def test_header_lines_above_a_single_rule_and_a_label_header_between_them():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    middle(doc, 300, "Primary sector", y=y)
    doc.rule(200, 400, y=y + 3)
    doc.text(72, "Source", y=y + 6)
    for c, head in enumerate(("Rural", "Urban", "All")):
        right(doc, 240 + 80 * c, head, y=y + 12)
    doc.rule(70, 402, y=y + 16)
    for k, label in enumerate(LABELS):
        doc.text(72, label, y=y + 30 + 13 * k)
        for c in range(3):
            right(doc, 240 + 80 * c, f"{k}{c},104", y=y + 30 + 13 * k)
    doc.y = y + 110
    found = blocks(doc.paragraph(*FILLER).convert())
    assert (
        "Source: Mining; Primary sector, Rural: 10,104; Primary sector, Urban: 11,104; "
        "Primary sector, All: 12,104." in found
    )


def test_figures_at_the_middle_of_a_label_of_two_lines():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    for c, head in enumerate(("Men", "Women")):
        right(doc, 320 + 80 * c, head, y=y)
    y += 16
    for k, label in enumerate(LABELS):
        if k == 2:
            doc.text(72, "Persons receiving unemployment benefits", y=y)
            doc.text(72, "for over a year", y=y + 11)
            y += 5.5
        else:
            doc.text(72, label, y=y)
        for c in range(2):
            right(doc, 320 + 80 * c, f"{k}{c},104", y=y)
        y += 5.5 + 13 if k == 2 else 13
    doc.y = y + 20
    found = blocks(doc.paragraph(*FILLER).convert())
    assert "Persons receiving unemployment benefits for over a year; Men: 20,104; Women: 21,104." in found


def test_currency_signs_at_the_left_of_cells_belong_to_the_figures():
    doc = Doc().paragraph(*FILLER)
    y = doc.y = doc.y + 30
    doc.text(72, "Source", y=y)
    for c, lines in enumerate((("Income", "from", "fees"), ("Other",))):
        for k, text in enumerate(lines):
            doc.text(240 + 90 * c, text, y=y + 11 * (k + 3 - len(lines)) - 22)
    for k, label in enumerate(LABELS):
        doc.text(72, label, y=y + 16 + 13 * k)
        for c in range(2):
            if k == 0:
                doc.text(232 + 90 * c, "$", y=y + 16)
            right(doc, 280 + 90 * c, f"{k}{c},104", y=y + 16 + 13 * k)
    doc.y = y + 90
    found = blocks(doc.paragraph(*FILLER).convert())
    assert "Source: Agriculture; Income from fees: $ 00,104; Other: $ 01,104." in found
    assert "Source: Mining; Income from fees: 10,104; Other: 11,104." in found


def test_a_column_of_currencies_with_a_header_stays_one():
    doc = Doc().paragraph(*FILLER)
    doc.row((72, 200, 300), "Item", "Currency", "Price", font=BOLD)
    for k, label in enumerate(LABELS):
        doc.row((72, 200, 300), label, "£" if k % 2 else "$", f"{k}0.50")
    found = blocks(doc.convert())
    assert "Item: Mining; Currency: £; Price: 10.50." in found


def test_one_unit_under_all_headers():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    doc.text(72, "Source", y=y)
    for c, head in enumerate(("2001", "2002", "2003")):
        right(doc, 240 + 80 * c, head, y=y)
    middle(doc, 310, "Millions of dollars", y=y + 13)
    for k, label in enumerate(LABELS):
        doc.text(72, label, y=y + 28 + 13 * k)
        for c in range(3):
            right(doc, 240 + 80 * c, f"{k}{c},104", y=y + 28 + 13 * k)
    found = blocks(doc.convert())
    assert (
        "Source: Mining; 2001, Millions of dollars: 10,104; 2002, Millions of dollars: 11,104; "
        "2003, Millions of dollars: 12,104." in found
    )


def test_a_number_in_a_wrapped_header_is_no_first_row():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    middle(doc, 310, "Rate per", y=y)
    doc.text(72, "Source", y=y + 11)
    middle(doc, 230, "Total", y=y + 11)
    middle(doc, 310, "100,000", y=y + 11)
    middle(doc, 390, "Estimate", y=y + 11)
    for k, label in enumerate(LABELS):
        doc.text(72, label, y=y + 28 + 14 * k)
        for c in range(3):
            right(doc, 245 + 80 * c, f"{k}{c}.5", y=y + 28 + 14 * k)
    found = blocks(doc.convert())
    assert "Source: Mining; Total: 10.5; Rate per 100,000: 11.5; Estimate: 12.5." in found


def test_two_columns_of_cells_are_no_columns_of_text():
    doc = Doc().paragraph(*FILLER)
    texts = ("Annual inspection by the", "No action required here", "Subject to review by the")
    doc.row((72, 130, 290, 430), "State", "Rejected", "Average", "Outlays", font=BOLD, after=18)
    for k, state in enumerate(("Alabama", "Hawaii", "Indiana", "Oregon", "Illinois", "Ohio")):
        doc.row((72, 130, 290, 430), state, texts[k % 3] + " office", texts[(k + 1) % 3] + " board", "Exempt")
    found = blocks(doc.convert())
    assert (
        "State: Hawaii; Rejected: No action required here office; "
        "Average: Subject to review by the board; Outlays: Exempt." in found
    )


def test_wrapped_headers_over_two_columns_are_one_text():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    for x, words in ((250, ("Baseline", "scenario")), (390, ("Adverse", "scenario"))):
        for k, word in enumerate(words):
            doc.text(x - 38, word, y=y + 11 * k)
        doc.rule(x - 40, x + 48, y=y + 15)
    doc.text(72, "State", y=y + 26)
    for c, x in enumerate((240, 290, 380, 430)):
        right(doc, x, ("2008", "2009")[c % 2], y=y + 26)
    doc.rule(70, 440, y=y + 30)
    for k, label in enumerate(LABELS):
        doc.text(72, label, y=y + 44 + 14 * k)
        for c, x in enumerate((240, 290, 380, 430)):
            right(doc, x, f"{k}{c}.5", y=y + 44 + 14 * k)
    found = blocks(doc.convert())
    assert (
        "State: Mining; Baseline scenario, 2008: 10.5; Baseline scenario, 2009: 11.5; "
        "Adverse scenario, 2008: 12.5; Adverse scenario, 2009: 13.5." in found
    )


def test_the_header_row_of_a_table_that_fills_its_page_is_no_running_header():
    doc = Doc()
    xs = (72, 180, 300, 420)
    doc.text(72, "Name", y=40)
    for x, head in zip(xs[1:], ("Registered", "Paid in", "Amount"), strict=True):
        doc.text(x, head, y=40)
    doc.rule(70, 480, y=26)
    doc.rule(70, 480, y=800)
    doc.y = 62
    for k in range(40):
        doc.row(xs, f"Donor {k}", f"20{k:02}/05", "cash", f"{k},000", after=18)
    out = doc.convert()
    assert "Name: Donor 3; Registered: 2003/05; Paid in: cash; Amount: 3,000." in blocks(out)
    assert not out.report.dropped


def test_running_lines_of_one_page_whose_text_is_a_small_table():
    doc = Doc()
    doc.text(72, "Statistical report on employment", y=40, size=8)
    doc.text(290, "117", y=806, size=8)
    doc.paragraph(*FILLER)
    for k in range(12):
        doc.text(72, f"Region {k}", size=6)
        for c in range(6):
            right(doc, 200 + 50 * c, f"{k}{c}.5", size=6)
        doc.y += 9
    out = doc.paragraph(*FILLER).convert()
    assert {(d.text, d.reason) for d in out.report.dropped} == {
        ("Statistical report on employment", "running header"),
        ("117", "page number"),
    }


def test_a_leader_ends_a_label_and_a_short_one_below_it_is_its_own():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    for c, head in enumerate(("Men", "Women")):
        right(doc, 320 + 80 * c, head, y=y)
    labels = (
        "Violent offences" + " ." * 24,
        "Murder and other offences against",
        "persons" + " ." * 29,
        "Theft" + " ." * 32,
    )
    for k, label in enumerate(labels):
        doc.text(72 + 4 * (k in (1, 2)), label, y=y + 15 + 13 * k, size=9)
        for c in range(2):
            if k != 1:
                right(doc, 320 + 80 * c, f"{k}{c},104", y=y + 15 + 13 * k)
    found = blocks(doc.convert())
    assert "Violent offences; Men: 00,104; Women: 01,104." in found
    assert "Murder and other offences against persons; Men: 20,104; Women: 21,104." in found


def test_the_words_of_a_spanning_header_over_narrow_columns_stay_together():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    for x, group in ((222, "State funds"), (312, "Local funds")):
        middle(doc, x, group, y=y)
    for c, x in enumerate((200, 245, 290, 335)):
        middle(doc, x, ("2000", "2001")[c % 2], y=y + 12)
        for k in range(4):
            right(doc, x + 14, f"{k + 1}{c},370", y=y + 28 + 13 * k)
    for k, label in enumerate(LABELS):
        doc.text(72, label, y=y + 28 + 13 * k)
    found = blocks(doc.convert())
    assert (
        "Mining; State funds, 2000: 20,370; State funds, 2001: 21,370; "
        "Local funds, 2000: 22,370; Local funds, 2001: 23,370." in found
    )


def test_headers_at_the_left_line_up_with_the_line_that_has_one_for_each_column():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    heads = (
        ("Initial", "claims"),
        ("Outlays",),
        ("Students", "per teacher"),
        ("Change", "from", "last year"),
    )
    for c, lines in enumerate(heads):
        for k, text in enumerate(lines):
            doc.text(180 + 75 * c, text, y=y + 11 * k)
        for k in range(4):
            right(doc, 240 + 75 * c, f"{k}{c}.5", y=y + 40 + 13 * k)
    for k, label in enumerate(LABELS):
        doc.text(72, label, y=y + 40 + 13 * k)
    found = blocks(doc.convert())
    assert (
        "Mining; Initial claims: 10.5; Outlays: 11.5; Students per teacher: 12.5; "
        "Change from last year: 13.5." in found
    )


def test_parts_of_a_table_below_wide_gaps_keep_its_header():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    doc.text(72, "Source", y=y)
    for c, head in enumerate(("Men", "Women", "All")):
        right(doc, 260 + 80 * c, head, y=y)
    y += 20
    for part in ("Private sector", "Public sector"):
        doc.text(72, part, y=y)
        for k, label in enumerate(LABELS):
            y += 16
            doc.text(80, label, y=y)
            for c in range(3):
                right(doc, 260 + 80 * c, f"{k}{c}.5", y=y)
        y += 30
    doc.y = y + 20
    out = doc.paragraph(*FILLER).convert()
    assert len(out.tables) == 1
    assert "Public sector — Source: Mining; Men: 10.5; Women: 11.5; All: 12.5." in blocks(out)


def test_an_outer_frame_makes_no_title_of_the_last_header():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    doc.rule(70, 470, y=y - 12)
    for x in (70, 470):
        doc.page.draw_line((x, y - 12), (x, y + 90), width=0.6)
    right(doc, 460, "Median", y=y)
    right(doc, 460, "income", y=y + 11)
    for c, head in enumerate(("Men", "Women", "All")):
        right(doc, 220 + 80 * c, head, y=y + 11)
    doc.rule(70, 470, y=y + 15)
    doc.rule(70, 470, y=y + 90)
    for k, label in enumerate(LABELS):
        doc.text(72, label, y=y + 30 + 14 * k)
        for c in range(4):
            right(doc, 220 + 80 * c, f"{k}{c}.5", y=y + 30 + 14 * k)
    found = blocks(doc.convert())
    assert "Mining; Men: 10.5; Women: 11.5; All: 12.5; Median income: 13.5." in found


def test_cells_of_text_that_begin_level_are_rows_though_written_column_by_column():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    cells = (
        ("Applies to all grants awarded after", "the start of the programme"),
        ("No action is required of the holder",),
        ("Report to be filed within thirty days", "of the decision of the board"),
    )
    columns = (72, 170, 370)
    for c, x in enumerate(columns):
        at = y
        doc.text(x, ("Industry", "Grants", "Loans")[c], y=at)
        for k in range(6):
            at += 20
            lines = (f"Sector {'ABCDEF'[k]}",) if c == 0 else cells[(k + c) % 3]
            for n, text in enumerate(lines):
                doc.text(x, text, y=at + 12 * n, size=9)
            at += 12
    doc.y = y + 6 * 32 + 30
    found = blocks(doc.paragraph(*FILLER).convert())
    assert (
        "Industry: Sector B; Grants: Report to be filed within thirty days of the decision of the board; "
        "Loans: Applies to all grants awarded after the start of the programme." in found
    )


def test_headers_at_the_middle_of_taller_ones():
    doc = Doc().paragraph(*FILLER)
    y = doc.y + 30
    heads = (("Low",), ("Number", "of", "schools"), ("mg/", "ml"), ("Average", "length of", "stay"))
    for c, lines in enumerate(heads):
        for k, text in enumerate(lines):
            middle(doc, 220 + 75 * c, text, y=y + 11 * k - 5.5 * len(lines))
        for k in range(4):
            right(doc, 234 + 75 * c, f"{k}{c}.5", y=y + 24 + 14 * k)
    for k, label in enumerate(LABELS):
        doc.text(72, label, y=y + 24 + 14 * k)
    found = blocks(doc.convert())
    assert "Mining; Low: 10.5; Number of schools: 11.5; mg/ml: 12.5; Average length of stay: 13.5." in found


def test_signs_close_behind_the_figure_before_belong_to_the_next():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    for c, head in enumerate(("2001", "2002", "2003", "2004")):
        right(doc, 230 + 46 * c, head, y=y)
    for k, label in enumerate(LABELS):
        doc.text(72, label, y=y + 16 + 13 * k)
        for c in range(4):
            if k in (0, 3):
                doc.text(192 + 46 * c, "$", y=y + 16 + 13 * k)
            right(doc, 230 + 46 * c, f"{k}{c}7.5", y=y + 16 + 13 * k)
    found = blocks(doc.convert())
    assert "Agriculture; 2001: $ 007.5; 2002: $ 017.5; 2003: $ 027.5; 2004: $ 037.5." in found


def test_the_last_word_of_the_middle_header_is_no_unit():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    for c, lines in enumerate((("Urban",), ("Not", "stated"), ("Rural",))):
        for k, text in enumerate(lines):
            middle(doc, 220 + 80 * c, text, y=y + 11 * k)
        for k in range(4):
            right(doc, 234 + 80 * c, f"{k}{c}.5", y=y + 28 + 14 * k)
    for k, label in enumerate(LABELS):
        doc.text(72, label, y=y + 28 + 14 * k)
    found = blocks(doc.convert())
    assert "Mining; Urban: 10.5; Not stated: 11.5; Rural: 12.5." in found


def test_rows_below_a_box_that_holds_a_tall_header():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    doc.page.draw_rect((70, y - 12, 440, y + 62), width=0.6)
    for c, lines in enumerate(
        (("Students", "for each", "full", "time", "teacher"), ("Income",), ("Outlays",))
    ):
        for k, text in enumerate(lines):
            middle(doc, 220 + 90 * c, text, y=y + 12 * (k + 5 - len(lines)))
    for k, label in enumerate(LABELS):
        doc.text(72, label, y=y + 76 + 14 * k)
        for c in range(3):
            right(doc, 234 + 90 * c, f"{k}{c}.5", y=y + 76 + 14 * k)
    found = blocks(doc.convert())
    assert "Mining; Students for each full time teacher: 10.5; Income: 11.5; Outlays: 12.5." in found


def test_a_line_in_the_middle_of_a_rows_cells_titles_nothing():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    doc.rule(70, 440, y=y - 12)
    doc.row((72, 180, 300), "Industry", "Grants", "Loans", after=18)
    for label in LABELS:
        top = doc.y - 12
        doc.rule(70, 440, y=top)
        doc.text(72, label, y=top + 17)
        doc.text(300, "Exempt", y=top + 17)
        for n, text in enumerate(("To be filed in a", "year at the least")):
            doc.text(180, text, y=top + 12 + 11 * n)
        doc.y = top + 42
    doc.rule(70, 440, y=doc.y - 12)
    for x in (70, 175, 295, 440):
        doc.page.draw_line((x, y - 12), (x, doc.y - 12), width=0.6)
    found = blocks(doc.convert())
    assert "Industry: Mining; Grants: To be filed in a year at the least; Loans: Exempt." in found


def test_a_row_of_figures_low_on_its_page_is_no_page_number_beside_words():
    doc = Doc().paragraph(*FILLER)
    doc.y = 712
    for cells in (("Class", "First", "Second", "Crew"), ("Adult", "175", "168", "862")):
        doc.row((72, 180, 260, 340), *cells, after=28)
    doc.row((72, 180, 260, 340), "14", "11", "13", "23")
    out = doc.convert()
    assert not out.report.dropped


def test_a_running_header_with_page_number_over_labels_in_small_type():
    doc = Doc()
    doc.text(72, "4", y=84, size=10)
    doc.text(220, "The structure of plots", y=84, size=10)
    doc.y = 140
    for k in range(20):
        doc.line(f"Label of the part {k} of the figure", x=90 + 9 * k, size=7, after=18)
    out = doc.convert()
    assert [(d.text, d.reason) for d in out.report.dropped] == [
        ("4 The structure of plots", "running header")
    ]


def test_a_rule_over_the_total_makes_no_table_of_its_own():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    for c, head in enumerate(("1993", "1994", "1995")):
        right(doc, 240 + 70 * c, head, y=y)
    for k, label in enumerate((*LABELS, "Total")):
        doc.text(72, label, y=y + 18 + 16 * k)
        for c in range(3):
            right(doc, 240 + 70 * c, f"{k}{c}7", y=y + 18 + 16 * k)
    doc.rule(70, 382, y=y + 18 + 54)
    doc.y = y + 120
    out = doc.paragraph(*FILLER).convert()
    assert len(out.tables) == 1
    assert {"Education; 1993: 307; 1994: 317; 1995: 327.", "Total; 1993: 407; 1994: 417; 1995: 427."} <= set(
        blocks(out)
    )


def test_a_wrapped_header_of_the_labels_and_a_unit_close_over_narrow_columns():
    doc = Doc().paragraph(*FILLER)
    y = doc.y
    doc.text(72, "Type of", y=y)
    doc.text(72, "programme", y=y + 11)
    for c, head in enumerate(("2008", "2009", "2010")):
        middle(doc, 190 + 34 * c, head, y=y + 11)
    middle(doc, 224, "Millions of dollars", y=y + 24)
    doc.rule(70, 282, y=y + 29)
    for k, label in enumerate(LABELS):
        doc.text(72, label, y=y + 44 + 14 * k)
        for c in range(3):
            right(doc, 204 + 34 * c, f"{k}{c}.5", y=y + 44 + 14 * k)
    doc.y = y + 130
    found = blocks(doc.paragraph(*FILLER).convert())
    assert (
        "Type of programme: Mining; 2008, Millions of dollars: 10.5; 2009, Millions of dollars: 11.5; "
        "2010, Millions of dollars: 12.5." in found
    )
