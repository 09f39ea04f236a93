"""What a case file says, once read: the frozen value that every command starts from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import NDArray

from sdpa_cli.attention import Attention, EmptyRowsError, Mask, NonFiniteScoreError, attend
from sdpa_cli.attention.difference import Tolerance
from sdpa_cli.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from sdpa_cli.cases.source import Source

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Expectation:
    """The values a case says it must give. None where it says nothing."""

    scores: Array | None = None
    """``(…, Tq, Tk)``: the logits that enter the softmax, −inf where a key is forbidden."""
    weights: Array | None = None
    """``(…, Tq, Tk)``."""
    output: Array | None = None
    """``(…, Tq, d_v)``."""
    tolerance: Tolerance = field(default_factory=Tolerance)


@dataclass(frozen=True, eq=False)
class Case:
    """One attention problem as its author wrote it, with every value checked.

    Arrays that came from a file may be memory maps; none is ever written to.
    """

    source: Source
    """Where it was read, so that a later problem can still point at line and column."""
    q: Array
    """Queries, ``(…, Tq, d_k)``."""
    k: Array
    """Keys, ``(…, Tk, d_k)``."""
    v: Array
    """Values, ``(…, Tk, d_v)``."""
    mask: Mask
    title: str | None = None
    query_labels: tuple[str, ...] | None = None
    key_labels: tuple[str, ...] | None = None
    bias: Array | None = None
    scale: float | None = None
    softcap: float | None = None
    dtype: Literal["float32", "float64"] = "float64"
    block_size: int | None = None
    empty_rows: Literal["error", "zero"] = "error"
    nonfinite: Literal["error", "propagate"] = "error"
    expect: Expectation | None = None

    def attend(self, threads: int | None = None, executor: Executor | None = None) -> Attention:
        """Compute the case.

        Parameters
        ----------
        threads, executor
            As in `sdpa_cli.attend`.

        Returns
        -------
        Attention

        Raises
        ------
        InputError
            As `sdpa_cli.attend` does, with every problem at its place in the case file and indices counted from 1.
        """
        try:
            return attend(
                self.q,
                self.k,
                self.v,
                mask=self.mask,
                bias=self.bias,
                scale=self.scale,
                softcap=self.softcap,
                empty_rows=self.empty_rows,
                nonfinite=self.nonfinite,
                block_size=self.block_size,
                threads=threads,
                executor=executor,
            )
        except (EmptyRowsError, NonFiniteScoreError) as error:
            raise error.counted_from(1).located(self.source.locate) from None
        except InputError as error:
            raise error.located(self.source.locate) from None
