"""Whether what a case expects has the shapes of what it computes."""

from __future__ import annotations

from collections.abc import Iterator

from sdpa_cli.cases.case import Case
from sdpa_cli.errors import Problem

Shape = tuple[int, ...]


def expected_shapes(case: Case) -> dict[str, tuple[str, Shape]]:
    """For each matrix that a case gives, the letters of its last axes and its shape."""
    inputs = case.inputs()
    scores = (*inputs.lead, inputs.queries, inputs.keys)
    heads = (*inputs.lead, inputs.queries, inputs.d_v)
    if case.layer is None:
        return {"scores": ("Tq, Tk", scores), "weights": ("Tq, Tk", scores), "output": ("Tq, d_v", heads)}
    from sdpa_cli.attention.heads import packed

    projections, lead = case.layer.projections, case.layer.x.shape[:-1]
    side_by_side = (*lead, (projections.heads or 1) * inputs.d_v)
    output = (*lead, packed(projections.W_O).shape[-1]) if projections.W_O is not None else side_by_side
    return {
        "scores": ("Tq, Tk", scores),
        "weights": ("Tq, Tk", scores),
        "heads": ("Tq, d_v", heads),
        "concatenated": ("Tq, H·d_v", side_by_side),
        "output": ("Tq, d_out", output),
    }


def expectation_problems(case: Case) -> Iterator[Problem]:
    """What is expected in a shape that does not come out, or of a layer where there is none."""
    if case.expect is None:
        return
    shapes = expected_shapes(case)
    for name in ("scores", "weights", "heads", "concatenated", "output"):
        given = getattr(case.expect, name)
        if given is None:
            continue
        path = ("expect", name)
        if name not in shapes:
            hint = "expect: output is what attention gives for Q, K and V"
            yield Problem("no-layer", f"expect.{name} needs a layer, and the case has no X", "X and W_Q", hint, path)
        elif given.shape != shapes[name][1]:
            letters, shape = shapes[name]
            expected = f"({'…, ' if len(shape) > 2 else ''}{letters}) = {shape}"
            yield Problem("shape-mismatch", f"expect.{name} has shape {given.shape}", expected, path=path)
