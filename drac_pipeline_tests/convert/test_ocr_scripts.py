"""Which scripts OCR reads, and that it says so of the others; other models by setting."""

from __future__ import annotations

import shutil
from pathlib import Path

import pymupdf
import pytest
import rapidocr

from drac_pipeline.config import ConvertConfig
from drac_pipeline.convert import convert_pdf
from drac_pipeline.model import Converted
from drac_pipeline_tests.convert.scans import letter, printed, scan

READ = {
    "German": "Über größere Drücke müssen die Prüfer täglich Übersichten führen.",
    "Polish": "Pompa pracuje przez cały dzień i jest smarowana raz w tygodniu ręcznie.",
    "Turkish": "Pompa bütün gün çalışır ve haftada bir kez elle yağlanır.",
    "Chinese": "水泵全天运行，每周手动润滑一次。",
}
UNREAD = {
    "Russian": "Насос работает весь день и смазывается один раз в неделю. Серийный номер 640-24-0417.",
    "Greek": "Η αντλία λειτουργεί όλη την ημέρα και λιπαίνεται μία φορά την εβδομάδα με το χέρι.",
    "Arabic": "تعمل المضخة طوال اليوم ويتم تزييتها مرة واحدة في الأسبوع يدويا",
    "Hebrew": "המשאבה פועלת כל היום ומשומנת פעם בשבוע ביד הלחץ לא יעלה על שישה בר בכל עת",
    "Korean": "펌프는 하루 종일 작동하며 일주일에 한 번 수동으로 윤활합니다.",
}


def read(*paragraphs: str) -> Converted:
    html = "".join(f"<p>{p}</p>" for p in paragraphs)

    def draw(page: pymupdf.Page) -> None:
        css = "body{font-family:sans-serif;font-size:13px}"
        page.insert_htmlbox((30, 30, 390, 280), html, css=css)  # type: ignore[arg-type]

    return convert_pdf(scan(printed(draw)), ConvertConfig())


@pytest.mark.parametrize("language", READ)
def test_read(language: str) -> None:
    result = read(READ[language])
    text = result.markdown.partition("-->")[2]
    assert "".join(text.split()) == "".join(READ[language].split())
    assert result.report.pages[0].warnings == []


@pytest.mark.parametrize("language", UNREAD)
def test_a_page_in_another_script_is_an_error_and_no_rubbish(language: str) -> None:
    result = read(UNREAD[language])
    page = result.report.pages[0]
    assert "script not read by the OCR models" in (page.error or "")
    assert "convert.ocr_models" in (page.error or "")
    assert page.confidence == 0
    text = "".join(line for line in result.markdown.splitlines() if not line.startswith("<!--"))
    assert text == ""


def test_lines_in_another_script_are_left_out_with_a_warning() -> None:
    before, after = "The pump is described for the two sites below.", "The pressure must stay below six bar."
    result = read(before, "Насос работает весь день и смазывается.", after)
    assert result.markdown == f"<!-- page 1 -->\n\n{before}\n\n{after}\n"
    [warning] = result.report.pages[0].warnings
    assert warning.startswith("1 of 3 lines is in a script or hand not read by the OCR models")


def test_vietnamese_is_known_to_lose_letters() -> None:
    page = read("Máy bơm hoạt động cả ngày và được bôi trơn mỗi tuần một lần bằng tay.").report.pages[0]
    assert page.warnings[0].startswith("Vietnamese: letters with two marks are not read")
    assert page.confidence <= 0.5


def test_other_models_are_taken_from_a_folder(tmp_path: Path) -> None:
    models = Path(rapidocr.__file__).parent / "models"
    shutil.copy(models / "PP-OCRv6_rec_small.onnx", tmp_path / "rec.onnx")
    config = ConvertConfig(ocr_models=str(tmp_path))
    assert "Quarterly maintenance report" in convert_pdf(scan(printed(letter)), config).markdown
    missing = ConvertConfig(ocr_models=str(tmp_path / "nowhere"))
    error = convert_pdf(scan(printed(letter)), missing).report.pages[0].error or ""
    assert "convert.ocr_models: there is no" in error


def test_leaders_and_wide_spacing_are_no_other_script() -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((30, 40), "C O N T E N T S", fontsize=14)
        for k, title in enumerate(("Pumps", "Valves and hoses", "Maintenance")):
            y = 80 + 24 * k
            page.insert_text((30, y), title + " " + "." * (70 - len(title)) + f" {k + 3}", fontsize=11)
        page.insert_text((30, 180), "Name: ______________________   Date: ______________", fontsize=11)

    page = convert_pdf(scan(printed(draw)), ConvertConfig()).report.pages[0]
    assert page.error is None
    assert page.warnings == []
