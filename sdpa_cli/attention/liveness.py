"""Which queries have any key to look at: what the mask alone decides, before a score is computed."""

from __future__ import annotations

import numpy as np

from sdpa_cli.attention.regions import Verdict, pieces
from sdpa_cli.attention.rule import Bools, MaskRule
from sdpa_cli.attention.tiles import tiles

_ROWS, _KEYS = 512, 1024
"""Cells of a mask that are looked at in one go."""


def has_live_key(rule: MaskRule, queries: int) -> Bools:
    """Whether each query may look at any key, broadcasting to ``(B, H_kv, G, Tq)``.

    Reads a mask only until every query is known to have one: of most masks, a part.
    """
    if not rule.patterns and rule.given is None:
        return rule.live_counts(np.arange(queries)) > 0
    return np.concatenate([_any_live(rule, rows) for rows in pieces(queries, _ROWS)] or [np.ones(0, np.bool_)], axis=-1)


def _any_live(rule: MaskRule, rows: slice) -> Bools:
    live = np.zeros((1, 1, 1, rows.stop - rows.start), np.bool_)
    for tile in tiles(rule, rows, _KEYS):
        if tile.verdict is not Verdict.FORBIDDEN:
            live = live | ~rule.forbidden(rows, tile.cols).all(axis=-1)
        if live.all():
            break
    return live
