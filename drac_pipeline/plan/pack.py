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

# Prices, in units of what an empty chunk would cost.
CUT_AT_HEADING = 0.0  # where another parent begins
CUT_AT_SIBLING = 0.1  # between sections under one parent
CUT_IN_SECTION = 0.3
CUT_AFTER_LEAD_IN = 1.0
CUT_IN_TABLE = 1.5
CUT_IN_LIST = 1.5
CUT_IN_PROCEDURE = 2.0
OVERSIZE = 1.0  # at the hard size; grows with the square of what exceeds the target
FEW_BLOCKS = 0.2


def pack(pieces: Sequence[Piece], config: PlanConfig, heading_chars: dict[str, int]) -> list[list[Piece]]:
    """The pieces as chunks, in order.

    A chunk of several pieces has at most `config.max_chars` characters, its headings
    counted, and at most `config.max_blocks` blocks.
    """
    best: list[tuple[float, int]] = [(0.0, 0)]  # lowest price of the first j pieces, start of the last chunk
    for j in range(1, len(pieces) + 1):
        best.append(_best_start(pieces, j, best, config, heading_chars))
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
    config: PlanConfig,
    heading_chars: dict[str, int],
) -> tuple[float, int]:
    """Where the chunk that ends before piece `j` starts best, with the price up to `j`."""
    choice = (float("inf"), j - 1)
    shown: set[str] = set()
    n_chars = n_blocks = 0
    for i in range(j - 1, -1, -1):
        piece = pieces[i]
        n_chars += piece.n_chars
        for heading in piece.chain:
            if heading not in shown:
                shown.add(heading)
                n_chars += heading_chars[heading]
        if piece.items[0].kind is not ElementKind.HEADING and (i == j - 1 or pieces[i + 1].cut is Cut.NOTHING):
            n_blocks += 1
        if i < j - 1 and (n_chars > config.max_chars or n_blocks > config.max_blocks):
            break
        price = best[i][0] + _cut_price(pieces, i) + _chunk_price(n_chars, n_blocks, config)
        if price < choice[0]:
            choice = (price, i)
    return choice


def _chunk_price(n_chars: int, n_blocks: int, config: PlanConfig) -> float:
    """What a chunk of this size costs; nothing at the target size."""
    miss = (n_chars - config.target_chars) / config.target_chars
    if miss < 0:
        few = max(0, config.min_blocks - n_blocks) / config.min_blocks
        return miss * miss - miss * few * FEW_BLOCKS
    span = max(config.max_chars / config.target_chars - 1, 0.01)
    return OVERSIZE * min(miss / span, 10.0) ** 2


def _cut_price(pieces: Sequence[Piece], i: int) -> float:
    """What it costs to begin a chunk with piece `i`."""
    if i == 0:
        return 0.0
    above, here = pieces[i - 1], pieces[i]
    if here.cut is not Cut.NOTHING:
        return {Cut.TABLE: CUT_IN_TABLE, Cut.LIST: CUT_IN_LIST, Cut.PROCEDURE: CUT_IN_PROCEDURE}[here.cut]
    if here.chain == above.chain:
        return CUT_AFTER_LEAD_IN if leads_in(above.items[-1]) else CUT_IN_SECTION
    siblings = len(here.chain) == len(above.chain) and here.chain[:-1] == above.chain[:-1]
    deeper = here.chain[: len(above.chain)] == above.chain
    return CUT_AT_SIBLING if siblings or deeper else CUT_AT_HEADING
