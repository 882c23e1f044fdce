import pytest

from drac_pipeline.convert.markers import format_error_marker
from drac_pipeline.convert.postprocess import postprocess


@pytest.mark.parametrize("fence", ["```markdown", "```md", "```", "~~~"])
def test_a_fence_around_the_answer_is_taken_off(fence):
    close = "~~~" if fence == "~~~" else "```"
    assert postprocess(f"{fence}\n# Title\n\nText.\n{close}") == "# Title\n\nText."


def test_a_fence_that_is_never_closed_is_taken_off_too():
    assert postprocess("```markdown\n# Title\n\nText.") == "# Title\n\nText."


def test_a_code_block_of_the_document_survives_with_its_bars_and_images():
    md = "Use this:\n\n```sh\na | b | c\n![x](y.png)\n```\n\nDone.\n"
    assert postprocess(md) == md


def test_a_code_block_inside_a_wrapper_survives():
    assert postprocess("```markdown\nA\n\n```sh\nls\n```\n\nB\n```") == "A\n\n```sh\nls\n```\n\nB"


def test_images_go():
    md = "Before ![logo](data:image/png;base64,AA) after\n\n![x](y.png)\n\nEnd"
    assert postprocess(md) == "Before after\n\nEnd"


def test_pipe_table_becomes_row_sentences():
    md = "Prices:\n| Model | Price |\n|:--|--:|\n| A \\| B | **5** |\n| C | |\nMore"
    assert postprocess(md) == "Prices:\n\nModel: A | B; Price: 5.\n\nModel: C.\n\nMore"


def test_pipe_table_goes_on_over_a_page():
    md = "| M | P |\n|---|---|\n| A | 1 |\n\n<!-- page 2 -->\n\n| B | 2 |\n| C | 3 |\n"
    assert postprocess(md) == "M: A; P: 1.\n\n<!-- page 2 -->\n\nM: B; P: 2.\n\nM: C; P: 3.\n"


def test_html_table_spans_are_resolved():
    md = (
        "x\n<table><tr><th rowspan='2'>Land</th><th colspan='2'>2020</th></tr>"
        "<tr><th>In</th><th>Out</th></tr>"
        "<tr><td rowspan='2'>A</td><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table>"
    )
    out = postprocess(md)
    assert "Land: A; 2020, In: 1; 2020, Out: 2." in out
    assert "Land: A; 2020, In: 3; 2020, Out: 4." in out
    assert "<t" not in out


def test_ligatures_and_soft_hyphens():
    assert postprocess("e\ufb03cient co\u00adoperation") == "efficient cooperation"


def test_comments_and_markers_stay():
    md = "<!-- page 1 -->\n\n" + format_error_marker(2, 3, "model | looped") + "\n\n<!-- page 4 -->\n"
    assert postprocess(md) == md


@pytest.mark.parametrize(
    "md",
    [
        "```markdown\n```markdown\n# A\n```\n```",
        "| a |\n|---|\n| <table><tr><td>x</td></tr></table> |",
        "a | b\n--|--\n1 | 2\n\n<table><tr><td>1",
        "text with a | bar\n\n![x][y]\n\n[y]: z.png",
        "",
        "\n\n\n\n",
    ],
)
def test_it_is_a_fixed_point(md):
    once = postprocess(md)
    assert postprocess(once) == once
