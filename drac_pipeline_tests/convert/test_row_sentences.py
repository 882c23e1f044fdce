from drac_pipeline.convert.row_sentences import row_sentence, unsaid


def test_each_value_follows_its_header_path():
    header = [["Country"], ["2001", "Schools"], ["2001", "Pupils"]]
    assert row_sentence(header, ["Austria", "160", "4,976"]) == (
        "Country: Austria; 2001, Schools: 160; 2001, Pupils: 4,976."
    )


def test_empty_cells_say_nothing_and_headers_lose_their_colon():
    assert row_sentence([["Name:"], ["Note"]], ["A  b", ""]) == "Name: A b."


def test_a_table_without_header_gives_its_values():
    assert row_sentence([], ["Phone:", "+91 1"]) == "Phone: +91 1."
    assert row_sentence([], ["a", "b", "c"]) == "a; b; c."


def test_section_and_closed_sentence():
    assert row_sentence([["Year"]], ["It ends here!"], "Actual:") == "Actual — Year: It ends here!"
    assert row_sentence([["Year"]], ["", " "]) == ""


def test_a_header_is_said_where_its_column_has_a_value_and_not_where_another_holds_its_words() -> None:
    header = [["Name"], ["Signature"], ["Plan", "Notes"]]
    assert unsaid(header, [(header, ["Signature Ltd", "", "x"])]) == "Signature"
    assert unsaid([["No"], ["Notes"]], [([["No"], ["Notes"]], ["", "none"])]) == "No"
    assert unsaid(header, [(header, ["a", "", ""]), (header, ["", "b", "c"])]) == ""
