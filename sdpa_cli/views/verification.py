"""What a case expects beside what was computed, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from sdpa_cli.cases import Case
from sdpa_cli.computing import Computed, Matrix, Verdict
from sdpa_cli.views.glyphs import Glyphs
from sdpa_cli.views.numbers import brief
from sdpa_cli.views.summary import place_words

LETTER: dict[Matrix, str] = {"scores": "S", "weights": "A", "heads": "O", "concatenated": "C", "output": "O"}
LABEL_CELLS = 24


def verdict_lines(computed: Computed, verdict: Verdict, glyphs: Glyphs) -> Iterator[str]:
    """One line where a matrix is as expected; what differs, where and why in as many as it takes where it is not.

    Parameters
    ----------
    computed, verdict
        What was found.
    glyphs
        The signs that labels may hold.
    """
    if verdict.difference is None:
        yield f"{verdict.name} as expected (largest error {brief(verdict.error, 2)}; {_allowed(computed.case)})"
        return
    found = verdict.difference
    verb = "differs" if verdict.name in ("concatenated", "output") else "differ"
    yield f"{verdict.name} {verb} in {found.count} of {found.total} cells; worst at {_where(computed, verdict, glyphs)}"
    yield (
        f"expected {brief(found.expected, 8)}, computed {brief(found.actual, 8)}, "
        f"off by {brief(found.error, 3)}, allowed {brief(found.limit, 3)}"
    )
    if verdict.hint is not None:
        yield f"hint: {verdict.hint}"


def _allowed(case: Case) -> str:
    assert case.expect is not None
    return f"atol {brief(case.expect.tolerance.atol)}, rtol {brief(case.expect.tolerance.rtol)}"


def _where(computed: Computed, verdict: Verdict, glyphs: Glyphs) -> str:
    """A cell counted from 1, and whose it is: ``A[2,1] (query "cat", key "the")``."""
    assert verdict.difference is not None
    *_, i, j = index = verdict.difference.index
    case = computed.case
    owners = [*place_words(computed, verdict.name, index[:-2])]
    if case.query_labels is not None:
        owners.append(f'query "{glyphs.shown(case.query_labels[i], LABEL_CELLS)}"')
    if case.key_labels is not None and verdict.name in ("scores", "weights"):
        owners.append(f'key "{glyphs.shown(case.key_labels[j], LABEL_CELLS)}"')
    cell = f"{LETTER[verdict.name]}[{','.join(str(i + 1) for i in index)}]"
    return f"{cell} ({', '.join(owners)})" if owners else cell
