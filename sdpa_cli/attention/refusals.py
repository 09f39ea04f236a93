"""The two refusals that need the data: rows without a live key, and scores that are not finite."""

from __future__ import annotations

from collections.abc import Sequence

from sdpa_cli.errors import InputError, Problem

Index = tuple[int, ...]

_SHOWN = 5
"""Rows named in a message; the others are counted."""


class EmptyRowsError(InputError):
    """Some query has no key it may look at, so its softmax does not exist.

    Parameters
    ----------
    rows
        Index ``(…, i)`` of each such query, 0-based.
    base
        Where the message counts from.
    """

    def __init__(self, rows: Sequence[Index], base: int = 0) -> None:
        self.rows = list(rows)
        named = ", ".join(_numbered(row, base) for row in self.rows[:_SHOWN])
        more = f" and {len(self.rows) - _SHOWN} more" if len(self.rows) > _SHOWN else ""
        rows_have = "row {} has" if len(self.rows) == 1 else "rows {} have"
        super().__init__(
            Problem(
                code="empty-rows",
                message=f"{rows_have.format(named + more)} no key to look at: every key is forbidden{_base(base)}",
                expected="at least one allowed key in every row",
                hint="allow a key there, or set empty_rows to 'zero' for a row of zeros",
                path=("mask",),
            )
        )

    def counted_from(self, base: int) -> EmptyRowsError:
        """The same error, its message counting from `base`."""
        return EmptyRowsError(self.rows, base)

    def __reduce__(self) -> tuple[type[EmptyRowsError], tuple[list[Index]]]:
        return EmptyRowsError, (self.rows,)


class NonFiniteScoreError(InputError):
    """The score of a query and a key it may look at is NaN or infinite.

    Parameters
    ----------
    index
        ``(…, i, j)`` of the score, 0-based.
    value
        What it is.
    base
        Where the message counts from.
    """

    def __init__(self, index: Index, value: float, base: int = 0) -> None:
        self.index, self.value = index, value
        super().__init__(
            Problem(
                code="non-finite-score",
                message=f"score S{[i + base for i in index]} is {value}, and its key is allowed{_base(base)}",
                expected="a finite score wherever a key is allowed",
                hint="look for NaN, infinite or huge values in that row of Q and of K (and in the bias), forbid the "
                "key, or set nonfinite to 'propagate'",
                path=("Q", *index[:-1]),
            )
        )

    def counted_from(self, base: int) -> NonFiniteScoreError:
        """The same error, its message counting from `base`."""
        return NonFiniteScoreError(self.index, self.value, base)

    def __reduce__(self) -> tuple[type[NonFiniteScoreError], tuple[Index, float]]:
        return NonFiniteScoreError, (self.index, self.value)


def _numbered(index: Index, base: int) -> str:
    numbers = [str(i + base) for i in index]
    return numbers[0] if len(numbers) == 1 else f"[{', '.join(numbers)}]"


def _base(base: int) -> str:
    return f" (counting from {base})"
