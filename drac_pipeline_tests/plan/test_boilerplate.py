"""What may be left out of a web page, and that nothing else ever is."""

from __future__ import annotations

import pytest

from drac_pipeline.assemble import assemble, verify_verbatim
from drac_pipeline.model import ChunkPlan, Element, LeftOut
from drac_pipeline.parse import parse_markdown
from drac_pipeline.plan import complete, find_boilerplate, plan_local, verify_coverage
from drac_pipeline.section import sections

PAGE = """# Returning goods

You may return goods within 30 days. Pack them well and write the order number on the box.

Share this article on Facebook, Twitter and LinkedIn

- Write to returns@example.org.
- Share the tracking number with us.

## Share this page

[Facebook](https://f.example) | [X](https://x.example)

© 2024 Example Ltd. All rights reserved.
"""
PAGE_WITH = "# A\n\nOne sentence.\n\nTwo of them.\n\n{}\n\nAnd a third one, longer than the others are."


def local_plan(elements: list[Element]) -> ChunkPlan:
    out = find_boilerplate(elements)
    staying = [e for e in elements if e.id not in {x.id for x in out}]
    plan = plan_local("a.html", staying, sections(staying)).model_copy(update={"left_out": out})
    return complete(elements, plan, web_page=True)


def test_lines_of_the_site_go_with_their_heading_and_the_page_stays():
    elements = parse_markdown(PAGE)
    by_id = {e.id: e for e in elements}
    found = {by_id[x.id].text: x.reason for x in find_boilerplate(elements)}
    assert found == {
        "Share this article on Facebook, Twitter and LinkedIn": "share links",
        "Share this page": "share links",
        "[Facebook](https://f.example) | [X](https://x.example)": "share links",
        "© 2024 Example Ltd. All rights reserved.": "copyright line",
    }
    plan = local_plan(elements)
    report = verify_coverage(elements, plan, web_page=True)
    assert report.ok
    assert report.left_out == [x.id for x in plan.left_out]
    chunks = assemble("a.html", "v", elements, plan)
    assert verify_verbatim(elements, chunks, report.left_out).ok
    assert not verify_verbatim(elements, chunks).ok
    assert "tracking number" in chunks[0].text
    assert "Facebook" not in "".join(c.text for c in chunks)


@pytest.mark.parametrize(
    "line",
    [
        "Share this risk with your line manager before work begins.",
        "We use cookies of oat and rye for the tasting.",
        "Copyright law protects the drawings in annex 3.",
        "Print the label in A5.",
        "Follow us to the assembly point.",
        "Subscribe to the newsletter of the safety board at least once a year.",
        "- GET\n- POST\n- PUT",
        "1. Open the file\n2. Print\n3. Share this page",
        "Share",
    ],
)
def test_a_sentence_that_says_something_stays(line: str):
    assert find_boilerplate(parse_markdown(PAGE_WITH.format(line))) == []


@pytest.mark.parametrize(
    "line",
    [
        "Skip to main content",
        "This website uses cookies to improve your experience. Accept",
        "Wir verwenden Cookies. Mit der Nutzung sind Sie einverstanden.",
        "Subscribe to our newsletter",
        "Copyright © 2019-2024 Example & Sons GmbH. Alle Rechte vorbehalten.",
        "Was this page helpful? Yes No",
    ],
)
def test_phrases_of_sites_are_known(line: str):
    elements = parse_markdown(PAGE_WITH.format(line))
    assert [x.text for x in find_boilerplate(elements)] == [line]


def test_a_page_about_such_lines_is_kept_whole():
    assert find_boilerplate(parse_markdown("# Labels\n\nRead more\n\nBack to top\n\nNext page")) == []


def test_no_other_source_may_leave_anything_out():
    elements = parse_markdown(PAGE)
    plan = local_plan(elements)
    assert verify_coverage(elements, plan).missing
    mended = complete(elements, plan)
    assert mended.left_out == []
    assert verify_coverage(elements, mended).ok


def test_what_a_chunk_holds_is_not_left_out():
    elements = parse_markdown("One.\n\nTwo.")
    plan = plan_local("a.html", elements, sections(elements))
    plan = plan.model_copy(update={"left_out": [LeftOut(id="p1", reason="share links")]})
    assert complete(elements, plan, web_page=True).left_out == []
