"""A rectangle on a page."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Box(BaseModel):
    """A rectangle on page `page` (1-based) in PDF points.

    The origin is the top left corner of the page as it is displayed (after
    /Rotate and the crop box), x to the right and y downwards.
    """

    model_config = ConfigDict(frozen=True)

    page: int
    x0: float
    y0: float
    x1: float
    y1: float
