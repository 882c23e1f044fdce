"""Blocks to chunks: the cheapest way to cut a run of blocks.

Every cut has a price (low where a heading begins, high inside a list or a table) and every
chunk another for how far its size is from the target. Dynamic programming finds the set of
cuts with the lowest sum, so that no small rest is left over as a greedy packer leaves it.
A chunk holds a bounded number of blocks and characters, hence the cost is linear.
"""

from __future__ import annotations

from collections.abc import Sequence

from drac_pipeline.config import PlanConfig
from drac_pipeline.model.element import ElementKind
from drac_pipeline.plan.blocks import Cut, Piece, leads_in
from drac_pipeline.plan.cohesion import cohesion
from drac_pipeline.plan.size import Sizes

# Prices, in units of what an empty chunk would cost. Measured on company documents: what
# matters is the size of chunks, that whole sections stay whole far above the target, and
# that neighbours are joined by likeness; the exact prices matter little.
CUT_AT_HEADING = 0.0
CUT_IN_SECTION = 1.0
CUT_IN = {Cut.TABLE: 1.5, Cut.LIST: 1.5, Cut.PROCEDURE: 2.0, Cut.TEXT: 3.0}
CUT_AFTER_LEAD_IN = 2.0
CUT_AFTER_BARE_HEADING = 4.0
CUT_LIKE_FROM_LIKE = 1.5  # between blocks with the same words; in proportion for others
OVERSIZE = 0.5  # at the hard size; grows with the square of what exceeds the target
FEW_BLOCKS = 0.2
FRAGMENT_CHARS = 60  # a paragraph shorter than this is not counted as a block


def pack(
    pieces: Sequence[Piece], policy: PlanConfig, sizes: Sizes, headings: dict[str, int]
) -> list[list[Piece]]:
    """The pieces as chunks, in order.

    A chunk of several pieces has at most the hard size, its headings counted, and at most
    `policy.max_blocks` blocks.
    """
    likeness = cohesion(pieces, policy.group_by)
    prices = [_cut_price(pieces, i, likeness[i]) for i in range(len(pieces))]
    best: list[tuple[float, int]] = [(0.0, 0)]  # lowest price of the first j pieces, start of the last chunk
    for j in range(1, len(pieces) + 1):
        best.append(_best_start(pieces, j, best, prices, policy, sizes, headings))
    out: list[list[Piece]] = []
    j = len(pieces)
    while j > 0:
        i = best[j][1]
        out.append(list(pieces[i:j]))
        j = i
    return out[::-1]


def _best_start(
    pieces: Sequence[Piece],
    j: int,
    best: list[tuple[float, int]],
    prices: list[float],
    policy: PlanConfig,
    sizes: Sizes,
    headings: dict[str, int],
) -> tuple[float, int]:
    """Where the chunk that ends before piece `j` starts best, with the price up to `j`."""
    choice = (float("inf"), j - 1)
    shown: set[str] = set()
    size = n_blocks = 0
    apart = content = False
    for i in range(j - 1, -1, -1):
        piece = pieces[i]
        size += piece.size
        for heading in piece.chain:
            if heading not in shown:
                shown.add(heading)
                size += headings[heading]
        ends_block = i == j - 1 or pieces[i + 1].cut is Cut.NOTHING
        if ends_block and not _is_fragment(piece):
            n_blocks += 1
        is_content = piece.items[-1].kind is not ElementKind.HEADING
        apart = apart or piece.alone
        if apart and content and is_content:
            break
        content = content or is_content
        if i < j - 1 and (size > sizes.hard or n_blocks > policy.max_blocks):
            break
        price = best[i][0] + prices[i] + _chunk_price(size, n_blocks, policy, sizes)
        if price < choice[0]:
            choice = (price, i)
    return choice


def _is_fragment(piece: Piece) -> bool:
    """True for what is no block of its own: a bare heading, or a few words alone."""
    if piece.items[0].kind is ElementKind.HEADING:
        return True
    return len(piece.items) == 1 and not piece.items[0].group and len(piece.items[0].text) < FRAGMENT_CHARS


def _chunk_price(size: int, n_blocks: int, policy: PlanConfig, sizes: Sizes) -> float:
    """What a chunk of this size costs; nothing at the target size."""
    miss = (size - sizes.target) / sizes.target
    if miss < 0:
        few = max(0, policy.min_blocks - n_blocks) / policy.min_blocks
        return miss * miss - miss * few * FEW_BLOCKS
    span = max(sizes.hard / sizes.target - 1, 0.01)
    return OVERSIZE * min(miss / span, 10.0) ** 2


def _cut_price(pieces: Sequence[Piece], i: int, likeness: float) -> float:
    """What it costs to begin a chunk with piece `i`."""
    if i == 0:
        return 0.0
    above, here = pieces[i - 1], pieces[i]
    if above.items[-1].kind is ElementKind.HEADING:
        price = CUT_AFTER_BARE_HEADING
    elif here.cut is not Cut.NOTHING:
        price = CUT_IN[here.cut]
    elif here.chain != above.chain:
        price = CUT_AT_HEADING
    else:
        price = CUT_AFTER_LEAD_IN if leads_in(above.items[-1]) else CUT_IN_SECTION
    return price + CUT_LIKE_FROM_LIKE * likeness
