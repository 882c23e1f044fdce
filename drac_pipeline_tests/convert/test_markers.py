from drac_pipeline.convert.markers import (
    PAGE_COMMENT,
    ErrorMarker,
    format_error_marker,
    format_page_comment,
    parse_error_marker,
    parse_error_markers,
)


def test_page_comment_has_the_contract_form():
    assert format_page_comment(7) == "<!-- page 7 -->"
    found = PAGE_COMMENT.fullmatch(format_page_comment(7))
    assert found is not None
    assert found[1] == "7"


def test_error_marker_comes_back_as_given():
    text = format_error_marker(3, 5, "the model stopped")
    assert text == '<!-- drac:error pages=3-5 cause="the model stopped" -->'
    assert parse_error_marker(text) == ErrorMarker(3, 5, "the model stopped")
    assert parse_error_marker(format_error_marker(4, 4, "x")) == ErrorMarker(4, 4, "x")


def test_a_cause_cannot_break_out_of_the_comment():
    text = format_error_marker(1, 1, 'a --> b "quoted"\nnext -- line-')
    assert text.count("-->") == 1 and "\n" not in text
    assert parse_error_marker(text) is not None


def test_markers_are_found_in_order_and_text_is_none():
    md = "a\n\n" + format_error_marker(1, 2, "x") + "\n\nb\n\n" + format_error_marker(9, 9, "y") + "\n"
    assert [m.first for m in parse_error_markers(md)] == [1, 9]
    assert parse_error_marker("<!-- page 3 -->") is None
