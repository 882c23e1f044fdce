"""OCR for pages without a text layer to be believed: scans, images, garbled encodings.

`page.py` says how each page is read. A page is drawn (`raster`), turned upright (`upright`),
its lines are found and recognised (`engine`) and measured (`lines`), its ruling lines are
traced (`rules`), and out come words and lines as a text layer has them (`scan`), so that
columns, tables, lists and headings are recognised by the same code.

Why RapidOCR: its wheel carries small PP-OCRv6 models, which run offline on ONNX Runtime and
need no system package; Tesseract is a program with language files that the system must
provide. Measured against each other (one thread each; words as between spaces; CPU seconds
a page; six benchmark pages drawn and read back, and a scan whose print is known):

| pages                          | this: words, characters, s | Tesseract 5.3: words, characters, s |
|---|---|---|
| clean, 150 dpi                 | .996  1.000  2.1 | .913  .967  0.7 |
| clean, 200 dpi                 | .998  1.000  2.0 | .951  .992  0.8 |
| clean, 300 dpi                 | 1.000 1.000  2.2 | .946  .992  1.1 |
| skewed, blurred, noisy 150 dpi | .994  1.000  1.9 | .943  .990  0.6 |
| two-page scan, skewed by 0.8°  | .995  1.000  2.4 | .977  .986  1.1 |

The wheel's own call loses words: it reads cells that touch as one, turns high narrow cells
(a lone `1`) on their side, and a skewed page keeps its skew. Hence the two models are driven
one after the other here: detection at 110 dpi, where it finds as many words as at 140 and
takes 0.35 s a page (2.7 s at 200 dpi), recognition at `convert.ocr_dpi`.
"""

from drac_pipeline.convert.ocr.page import Read, read_with_ocr
from drac_pipeline.convert.ocr.sizes import even_sizes

__all__ = ["Read", "even_sizes", "read_with_ocr"]
