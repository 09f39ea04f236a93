"""What to say of queries that a case leaves without a key."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sdpa_cli.attention import EmptyRowsError

if TYPE_CHECKING:
    from sdpa_cli.cases.case import Case

_TURN = "1 forbids here: if yours means allowed, write mask_means: allowed"


def emptied(case: Case, error: EmptyRowsError) -> EmptyRowsError:
    """The refusal of rows without a key, counting from 1, with what the mask's author may have meant.

    Parameters
    ----------
    case
        What was computed.
    error
        As the engine raised it.
    """
    told = error.counted_from(1)
    if _may_be_meant_otherwise(case):
        problem = told.problems[0]
        told.problems = (replace(problem, hint=f"{problem.hint}; {_TURN}"),)
    return told


def _may_be_meant_otherwise(case: Case) -> bool:
    """Whether the mask is a matrix that does not say what it means, and has no more empty rows if read as allowed."""
    forbidden = case.mask.forbidden
    if forbidden is None:
        return False
    places = case.source.locate_all([(), ("mask",), ("mask", "forbidden"), ("mask", "allowed"), ("mask_means",)])
    # What is not there is located where the value above it begins.
    stated = places[("mask_means",)] != places[()]
    mapped = places[("mask", "forbidden")] != places[("mask",)] or places[("mask", "allowed")] != places[("mask",)]
    return not stated and not mapped and (~forbidden).all(-1).sum() <= forbidden.all(-1).sum()
