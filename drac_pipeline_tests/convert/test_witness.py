"""OCR as the second opinion on a scan that a model read."""

import pytest

from drac_pipeline.convert.model.witness import say_doubt, second_opinion
from drac_pipeline.model import PageReport


@pytest.mark.parametrize(
    ("model", "ocr", "confidence"),
    [
        ("Order 4711 of 17 March.", "Order 4711 of 17 March.", 1.0),
        ("Order 4711 of 17 March.", "Order 4711 of 11 March.", 0.5),
        ("Only words are here.", "Other words, and 4711.", 0.5),  # nothing was compared: no proof of anything
    ],
)
def test_confidence_is_the_share_of_numbers_that_both_read(model: str, ocr: str, confidence: float) -> None:
    page = PageReport(page=1, reader="a model")
    say_doubt(page, second_opinion(model, ocr, 0.95), scan=True)
    assert page.confidence == confidence
