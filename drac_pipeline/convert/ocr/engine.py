"""The OCR models, loaded once per process and only when a page needs them.

Detection and recognition are driven one after the other instead of in the library's one
call: a page is turned upright between the two, detection runs on a smaller image than
recognition, and each word's place is wanted as accurately as the models know it.
"""

from __future__ import annotations

import functools
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
Quad = NDArray[np.float32]  # four corners: top left, top right, bottom right, bottom left of the text

# 110 dpi: as many words are found as at 140 dpi; detection takes 0.35 s a page instead of 2.7 s at 200 dpi.
DETECT_SIDE, DETECT_MAX = 1280, 2560
DETECT_PER_POINT = DETECT_SIDE / 842
_SHORT, _CERTAIN = 3, 0.95  # characters of a line, and their confidence
_DET, _REC = "PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx"


@dataclass(slots=True)
class Reading:
    """A recognised line: its characters but spaces, each with its centre (0..1 along the
    line) and confidence; `starts` are the indexes at which a word begins."""

    chars: str
    centres: list[float]
    scores: list[float]
    starts: list[int]

    @property
    def score(self) -> float:
        return sum(self.scores) / len(self.scores) if self.scores else 0.0

    @property
    def words(self) -> list[tuple[int, int]]:
        """(first, end) of each word."""
        return list(zip(self.starts, [*self.starts[1:], len(self.chars)][: len(self.starts)], strict=True))

    @property
    def text(self) -> str:
        return " ".join(self.chars[a:b] for a, b in self.words)


class Engine:
    """The two models. Use `get_engine`: loading takes a while.

    `models` is a folder with `rec.onnx`, and where they are needed `det.onnx` and `rec.txt` (the
    characters of a model that does not carry them, one a line); empty: those of the wheel.
    """

    def __init__(self, models: str = "") -> None:
        import rapidocr

        wheel = Path(rapidocr.__file__).parent / "models"
        detector, recogniser = wheel / _DET, wheel / _REC
        keys: Path | None = None
        if models:
            own = Path(models)
            recogniser = own / "rec.onnx"
            if not recogniser.is_file():
                raise FileNotFoundError(f"convert.ocr_models: there is no {recogniser}")
            if (own / "det.onnx").is_file():
                detector = own / "det.onnx"
            if (own / "rec.txt").is_file():
                keys = own / "rec.txt"
        # Named files are loaded as they are: without names the library may go and fetch others.
        # One thread: documents are spread over processes, and results stay the same on any machine.
        self._ocr = rapidocr.RapidOCR(
            params={
                "Global.log_level": "error",
                "Global.use_cls": False,
                "Global.return_word_box": True,
                "Global.max_side_len": 100_000,
                "Global.min_side_len": 32,
                "Det.model_path": str(detector),
                "Det.limit_type": "max",
                "Det.limit_side_len": DETECT_MAX,
                "Rec.model_path": str(recogniser),
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                **({"Rec.rec_keys_path": str(keys)} if keys else {}),
            }
        )
        logging.getLogger("RapidOCR").setLevel(logging.ERROR)

    def detect(self, image: Image, points: float) -> list[Quad]:
        """Where text lines are; `points` is the image's longest side on paper."""
        height, width = image.shape[:2]
        side = min(max(DETECT_SIDE, DETECT_PER_POINT * points), DETECT_MAX)
        factor = min(1.0, side / max(height, width))
        if factor < 1.0:
            size = (max(1, round(width * factor)), max(1, round(height * factor)))
            image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)
        found: Any = self._ocr(image, use_det=True, use_cls=False, use_rec=False)
        if found is None or found.boxes is None or not len(found.boxes):
            return []
        quads = np.asarray(found.boxes, np.float32) / factor
        order = sorted(range(len(quads)), key=lambda i: (float(quads[i][0][1]), float(quads[i][0][0])))
        return [quads[i] for i in order]

    def recognise(self, crops: list[Image]) -> list[Reading]:
        """The text of line images, in their order.

        A letter or two that fill their image are often taken for others: they are read again
        with paper around them, and the surer reading counts.
        """
        first = self._recognise(crops)
        again = [i for i, r in enumerate(first) if len(r.chars) <= _SHORT and r.score < _CERTAIN]
        wider = self._recognise([_widened(crops[i]) for i in again])
        for i, reading in zip(again, wider, strict=True):
            if reading.score > first[i].score:
                height, width = crops[i].shape[:2]
                whole = width + 2 * height
                reading.centres = [min(max((c * whole - height) / width, 0.0), 1.0) for c in reading.centres]
                first[i] = reading
        return first

    def _recognise(self, crops: list[Image]) -> list[Reading]:
        if not crops:
            return []
        out: Any = self._ocr.recognize_txt(list(crops))
        return [
            _reading(text, info) for text, info in zip(out.txts or (), out.word_results or (), strict=True)
        ]


def _widened(crop: Image) -> Image:
    """A line image with its own height of paper on both sides, and some above and below."""
    height = crop.shape[0]
    more = cv2.copyMakeBorder(crop, height // 4, height // 4, height, height, cv2.BORDER_REPLICATE)
    return np.asarray(more, np.uint8)


@functools.cache
def get_engine(models: str = "") -> Engine:
    """The engine of this process for these models."""
    return Engine(models)


def _reading(text: str, info: Any) -> Reading:
    """Characters with places from the recogniser's columns.

    Words come from the spaces of `text`: the library's own words are also cut where
    characters stand wide apart, which letter-spaced titles do.
    """
    chars = "".join(text.split())
    columns = [] if info is None else [c for word in info.word_cols for c in word]
    if info is None or not chars or len(columns) != len(chars):
        return Reading("", [], [], [])
    scores = [s for s, c in zip(info.confs, text, strict=False) if not c.isspace()]
    span = info.line_txt_len or 1.0
    centres = [min(max((c + 0.5) / span, 0.0), 1.0) for c in columns]
    starts, n = [], 0
    for word in text.split():
        starts.append(n)
        n += len(word)
    return Reading(chars, centres, scores, starts)


def cut(image: Image, quad: Quad, turns: int = 0) -> Image:
    """The line in `quad` as an upright image, turned by `turns` quarters counter-clockwise."""
    tl, tr, br, bl = quad
    width = max(1, round(max(float(np.hypot(*(tr - tl))), float(np.hypot(*(br - bl))))))
    height = max(1, round(max(float(np.hypot(*(bl - tl))), float(np.hypot(*(br - tr))))))
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    matrix = cv2.getPerspectiveTransform(np.ascontiguousarray(quad, np.float32), corners)
    out = cv2.warpPerspective(
        image, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return np.ascontiguousarray(np.rot90(np.asarray(out, np.uint8), turns))
