"""Makes the corpus: python -m make_corpus [module ...], from the folder data/."""

import importlib
import sys

ALL = ["beck_manual", "report_q4", "an17", "docx_files", "html_files", "scan", "workbook", "slides"]

for name in sys.argv[1:] or ALL:
    importlib.import_module(f"make_corpus.{name}").make()
    print("made", name)
